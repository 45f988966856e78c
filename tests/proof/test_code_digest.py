"""The digest of a test: what changes it, and what does not.

| changed | digest |
| --- | --- |
| a comment, a docstring, the layout | the same |
| a definition that the test does not reach | the same |
| the test; a helper of its file, of another file, of a module's attribute; a fixture; an example | another |
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.proof.code import Code
from conformance.proof.marks import claims
from modelyard.paths import data_root

FILES = {
    "conformance/conftest.py": (
        "@pytest.fixture\ndef cluster():\n    return 1\n\n\n@pytest.fixture\ndef other():\n    return 2\n"
    ),
    "conformance/support/__init__.py": "",
    "conformance/support/jobs.py": (
        "SIZE = 3\n\n\ndef job(name):\n    return name * SIZE\n\n\ndef unused():\n    return 5\n"
    ),
    "conformance/support/nics.py": "def start():\n    return 6\n",
    "conformance/queue/test_a.py": (
        "from conformance.support import nics\nfrom conformance.support.jobs import job\n\n"
        "def test_a(cluster):\n    '''Say a.'''\n    assert job('training') and local()\n    nics.start()\n\n\n"
        "def local():\n    return 7\n\n\ndef test_b():\n    assert 8\n"
    ),
    "examples/training/train.py": "print(9)\n",
}
TEST = "queue/test_a.py::test_a"


def digest(root: Path, file: str = "", old: str = "", new: str = "") -> str:
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        assert name != file or old in content
        path.write_text(content.replace(old, new) if name == file else content, encoding="utf-8")
    return Code(root / "conformance").digest(TEST)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("conformance/queue/test_a.py", "    nics.start()", "    # as in the docs\n    nics.start()"),
        ("conformance/queue/test_a.py", "Say a.", "Say a, better."),
        ("conformance/queue/test_a.py", "assert job('training') and", "assert (\n        job('training')\n    ) and"),
        ("conformance/queue/test_a.py", "assert 8", "assert 80"),
        ("conformance/support/jobs.py", "return 5", "return 50"),
        ("conformance/conftest.py", "return 2", "return 20"),
    ],
)
def test_what_a_test_does_not_use_leaves_its_digest(tmp_path: Path, file: str, old: str, new: str) -> None:
    assert digest(tmp_path, file, old, new) == digest(tmp_path)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("conformance/queue/test_a.py", "and local", "or local"),
        ("conformance/queue/test_a.py", "return 7", "return 70"),
        ("conformance/support/jobs.py", "SIZE = 3", "SIZE = 4"),
        ("conformance/support/jobs.py", "name * SIZE", "name + SIZE"),
        ("conformance/support/nics.py", "return 6", "return 60"),
        ("conformance/conftest.py", "return 1", "return 10"),
        ("examples/training/train.py", "print(9)", "print(90)"),
    ],
)
def test_what_a_test_uses_changes_its_digest(tmp_path: Path, file: str, old: str, new: str) -> None:
    assert digest(tmp_path, file, old, new) != digest(tmp_path)


def test_every_test_of_the_suite_that_proves_something_has_a_digest() -> None:
    suite = data_root() / "conformance"
    code, found = Code(suite), claims(suite)
    assert found
    digests = {claim.test: code.digest(claim.test) for claim in found}
    assert len(set(digests.values())) == len(found)
    assert {claim.test: Code(suite).digest(claim.test) for claim in found[:3]}.items() <= digests.items()
