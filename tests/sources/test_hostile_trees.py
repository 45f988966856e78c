"""Trees that are not what manifests are: links of all kinds, devices, pipes, odd names, huge files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from modelyard.catalog import Upstream
from modelyard.errors import SourceError
from modelyard.sources import Store, digest, tree_digest
from modelyard.sources.store import UnavailableError


def make(folder: Path) -> Path:
    (folder / "sub").mkdir(parents=True)
    (folder / "a.yaml").write_text("a: 1\n")
    (folder / "sub/b.yaml").write_text("b: 2\n")
    return folder


def test_the_digest_of_plain_files_is_that_of_dirhash(tmp_path: Path) -> None:
    """As it always was: upstream.lock holds such digests."""
    lines = "".join(
        f"{hashlib.sha256(content.encode()).hexdigest()}  {name}\n"
        for name, content in (("a.yaml", "a: 1\n"), ("sub/b.yaml", "b: 2\n"))
    )
    assert tree_digest(make(tmp_path / "x")) == hashlib.sha256(lines.encode()).hexdigest()


def test_a_link_counts_as_what_it_is_and_by_what_it_names(tmp_path: Path) -> None:
    def having(name: str, change: Callable[[Path], object]) -> str:
        change(make(tmp_path / name))
        return tree_digest(tmp_path / name)

    digests = [
        having("none", lambda folder: None),
        having("file", lambda folder: (folder / "x").write_text("a.yaml")),
        having("link", lambda folder: (folder / "x").symlink_to("a.yaml")),
        having("other", lambda folder: (folder / "x").symlink_to("sub/b.yaml")),
        having("folder", lambda folder: (folder / "x").symlink_to("sub")),
        having("outside", lambda folder: (folder / "x").symlink_to("../../../y")),  # as Karpenter's chart has them
        having("dangling", lambda folder: (folder / "x").symlink_to("gone")),
    ]
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: (folder / "x").symlink_to("/etc/passwd"), "leads out of the tree, to /etc/passwd"),
        (lambda folder: (folder / "x").symlink_to("/etc"), "leads out of the tree, to /etc"),
        (lambda folder: (folder / "sub/x").symlink_to(".."), "a link to a folder that it is in"),
        (lambda folder: (folder / "x").symlink_to("x"), "a link to a folder that it is in"),
        (lambda folder: os.mkfifo(folder / "x"), "is neither a file, a folder nor a link"),
        (lambda folder: os.mknod(folder / "x", 0o20666, os.makedev(1, 5)), "is neither a file, a folder nor a link"),
        (lambda folder: (folder / "x\ny").write_text("1"), "has a line break in its name"),
        (lambda folder: os.truncate(os.open(folder / "x", os.O_CREAT | os.O_WRONLY), 2**30), "too much for manifests"),
    ],
    ids=["file", "folder", "round", "itself", "pipe", "device", "name", "huge"],
)
@pytest.mark.timeout(60)  # a pipe, or /dev/zero, would be read for ever
def test_what_has_no_place_in_a_tree_is_refused_before_it_is_read_or_copied(
    tmp_path: Path, change: Callable[[Path], object], said: str
) -> None:
    folder = make(tmp_path / "handed/thing-v1/config")
    change(folder)
    with pytest.raises(SourceError, match=said):
        tree_digest(folder)
    entry = {"git": "https://git.invalid/o/thing", "ref": "v1", "tree": {"dir": "config", "sha256": "0" * 64}}
    store = Store(tmp_path / "sources", tmp_path / "mod", lambda: Path("go"), True, handed=tmp_path / "handed")
    with pytest.raises(SourceError, match=said) as caught:
        store.tree("thing", Upstream.model_validate(entry))
    assert not isinstance(caught.value, UnavailableError)
    assert list((tmp_path / "sources").iterdir()) == []


def test_more_files_than_any_upstream_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "MAX_ENTRIES", 1)
    with pytest.raises(SourceError, match="1 files"):
        tree_digest(make(tmp_path / "x"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(
    st.binary(min_size=1, max_size=8).filter(lambda name: not set(name) & set(b"\x00/\n") and name not in (b".", b".."))
)
def test_a_name_may_hold_any_other_byte(tmp_path: Path, name: bytes) -> None:
    folder = tmp_path / name.hex()
    folder.mkdir(exist_ok=True)
    Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("1")
    assert (
        tree_digest(folder)
        == hashlib.sha256(hashlib.sha256(b"1").hexdigest().encode() + b"  " + name + b"\n").hexdigest()
    )
