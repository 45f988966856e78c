"""`python tests/skips.py REPORT...`: fail on every skip in JUnit reports that allowed-skips.yaml does not have."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import yaml

ALLOWED = Path(__file__).resolve().parent / "allowed-skips.yaml"
FIELDS = {"test", "says", "why"}
Skip = tuple[str, str]  # <module>::<test>, what it says


def skips(reports: Iterable[Path]) -> Iterator[Skip]:
    """Yield what was skipped; a test that is expected to fail is told as one, too."""
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            for skipped in case.iter("skipped"):
                yield f"{case.get('classname')}::{case.get('name')}", skipped.get("message", "")


def unexplained(found: Iterable[Skip], allowed: Sequence[Mapping[str, str]]) -> list[Skip]:
    """Return the skips that no entry allows. Pure."""
    return sorted(
        {(test, says) for test, says in found}
        - {
            (test, says)
            for test, says in found
            for entry in allowed
            if fnmatchcase(test, entry["test"]) and entry["says"] in says
        }
    )


def allowed_in(file: Path) -> list[Mapping[str, str]]:
    """Return the entries of the list; each must have its reason."""
    entries = yaml.safe_load(file.read_text(encoding="utf-8")) or []
    for entry in entries:
        if set(entry) != FIELDS or not all(str(entry[field]).strip() for field in FIELDS):
            raise SystemExit(f"{file}: an entry must have {', '.join(sorted(FIELDS))}: {entry}")
    return list(entries)


def main(reports: Sequence[str]) -> int:
    """Print what was skipped without leave."""
    missing = [report for report in reports if not Path(report).is_file()]
    if missing or not reports:
        print(f"no such report: {', '.join(missing) or '(none given)'}", file=sys.stderr)
        return 1
    left = unexplained(list(skips(map(Path, reports))), allowed_in(ALLOWED))
    for test, says in left:
        print(f"skipped: {test}: {says}", file=sys.stderr)
    if left:
        print(f"next: make them run, or give the reason in tests/{ALLOWED.name}", file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
