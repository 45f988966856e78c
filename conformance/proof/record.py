"""conformance/proof.json: which tests have proved which component, when, at which commit, and with what.

Written by `modelyard conformance --record`, never by hand: each entry has a digest over itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from modelyard.errors import ConformanceError

VERSION = "modelyard.dev/proof/v1"
FILE = "proof.json"
PROVE = "make prove"


@dataclass(frozen=True, slots=True, order=True)
class Passed:
    """One test that has passed.

    Args:
        at: when, in UTC, as 2026-01-01T00:00:00Z.
        commit: of the clone; ends with -dirty where it had changes that were not committed.
        code: the test's digest (code.py).
    """

    at: str
    commit: str
    code: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What has proved one component.

    Args:
        objects: digest of its objects (parts.py).
        builds: digest of what its images are built from.
        tests: the tests that have passed with these, by name.
    """

    objects: str
    builds: str
    tests: Mapping[str, Passed]

    @property
    def digest(self) -> str:
        """Return the digest over all of the entry."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


Record = Mapping[str, Entry]


def read(file: Path) -> Record:
    """Return the record; an empty one where there is no file.

    Raises:
        ConformanceError: it is not a record, or was changed by hand: digest mismatch.
    """
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["version"] != VERSION:
            raise ValueError(f"version {content['version']}")
        found = {name: (_entry(each), str(each["digest"])) for name, each in content["components"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unusable(file, "", f"not a proof record: {type(error).__name__}: {error}") from error
    for name, (entry, digest) in found.items():
        if entry.digest != digest:
            raise _unusable(file, f", component {name}", "digest mismatch: the entry was changed by hand")
    return {name: entry for name, (entry, _) in found.items()}


def write(file: Path, record: Record) -> None:
    """Write the record, sorted, in one step."""
    listed = {name: {**asdict(record[name]), "digest": record[name].digest} for name in sorted(record)}
    content = json.dumps({"version": VERSION, "components": listed}, indent=1, sort_keys=True) + "\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def merged(before: Entry | None, now: Entry, failed: frozenset[str], known: frozenset[str]) -> Entry:
    """Return an entry with a run's results in it. Pure.

    Args:
        before: what was recorded; what was proved with other objects or builds is forgotten.
        now: the run's: its digests, and the tests that passed.
        failed: tests that did not pass: they prove nothing any more.
        known: all tests that there are; others are forgotten.
    """
    kept = before.tests if before is not None and (before.objects, before.builds) == (now.objects, now.builds) else {}
    tests = {name: passed for name, passed in {**kept, **now.tests}.items() if name in known and name not in failed}
    return replace(now, tests=dict(sorted(tests.items())))


def _entry(content: Mapping[str, object]) -> Entry:
    tests = content["tests"]
    assert isinstance(tests, dict)
    return Entry(
        objects=str(content["objects"]),
        builds=str(content["builds"]),
        tests={str(name): Passed(**each) for name, each in tests.items()},
    )


def _unusable(file: Path, where: str, cause: str) -> ConformanceError:
    return ConformanceError(f"{file}{where}", cause, f"git checkout {file.name}, or delete it and: {PROVE}")
