"""What a run of conformance adds to the record.

Only what is on the cluster is proved: the components' inventories must say that the last install of each ended, and
that it put there what this clone renders.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from conformance.proof import marks, parts, record
from conformance.proof.code import Code
from conformance.proof.record import Entry, Passed
from modelyard.apply.members import read_all
from modelyard.catalog import Catalog
from modelyard.cluster import Session
from modelyard.errors import ConformanceError
from modelyard.events import discard
from modelyard.objects import Object
from modelyard.plan.desired import complete_digest, prepare
from modelyard.plan.inventory import Inventory, applyset_id
from modelyard.platform.workspace import Workspace

# What a run itself writes, and what is generated from it: neither changes what is proved.
_WRITTEN = (":!conformance/proof.json", ":!docs/reference")


class Recorder:
    """A pytest plugin: notes what passes, and writes the record at the end of the run.

    Args:
        file: the record.
        session: the cluster.
    """

    def __init__(self, file: Path, session: Session) -> None:
        workspace = Workspace(None, discard)
        self._file, self._suite = file, workspace.root / "conformance"
        self._claims = marks.claims(self._suite)
        self._before = record.read(file)
        self._commit = commit_of(workspace.root)
        catalog = workspace.catalog()
        names = sorted({name for claim in self._claims for name in claim.components})
        rendered = workspace.renderer().objects(catalog, parts.TARGET, names)
        self._installed = as_rendered(catalog, read_all(session), rendered)
        self._parts = parts.parts_of(catalog, workspace.renderer(), names)
        self._outcomes: dict[str, set[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note one phase of one test; parameters of a test are one with it."""
        test = report.nodeid.partition("[")[0]
        if report.when == "call" or report.outcome != "passed":
            self._outcomes.setdefault(test, set()).add(report.outcome)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write the record, unless the run was broken off."""
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        passed = {test for test, outcomes in self._outcomes.items() if outcomes == {"passed"}}
        failed = frozenset(test for test, outcomes in self._outcomes.items() if "failed" in outcomes)
        record.write(self._file, {**self._before, **self._entries(passed, failed)})

    def _entries(self, passed: set[str], failed: frozenset[str]) -> dict[str, Entry]:
        code, at = Code(self._suite), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        entries = {}
        for name, claims in marks.by_component(self._claims).items():
            tests = [claim.test for claim in claims]
            mine = [test for test in tests if test in passed]
            if not mine and not failed.intersection(tests):
                continue
            if name not in self._installed:
                print(f"not recorded: component {name} is not installed as this clone renders it")
                continue
            what = self._parts[name]
            now = Entry(what.objects, what.builds, {test: Passed(at, self._commit, code.digest(test)) for test in mine})
            entries[name] = record.merged(self._before.get(name), now, failed, frozenset(tests))
        return entries


def as_rendered(
    catalog: Catalog, installed: Mapping[str, Inventory], rendered: Mapping[str, Sequence[Object]]
) -> frozenset[str]:
    """Return which components are installed as they were rendered. Pure.

    A component with values of the site (team-a's quota) differs in these; of it, only that its install has ended is
    asked.
    """
    found = set()
    for name, objects in rendered.items():
        inventory = installed.get(name)
        if inventory is None or inventory.target != parts.TARGET or not inventory.complete:
            continue
        if _has_values(catalog, name) or inventory.complete == _complete(name, objects):
            found.add(name)
    return frozenset(found)


def commit_of(root: Path) -> str:
    """Return the clone's commit; it ends with -dirty where something is not committed.

    Raises:
        ConformanceError: this is not a git clone.
    """
    head = _git(root, "rev-parse", "--short=12", "HEAD")
    return f"{head}-dirty" if _git(root, "status", "--porcelain", "--", ".", *_WRITTEN) else head


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ConformanceError("--record", f"{root} is not a git clone", "run it in a clone of modelyard") from error
    return done.stdout.strip()


def _has_values(catalog: Catalog, name: str) -> bool:
    return any(value.partition(".")[0] == name for value in catalog.target(parts.TARGET).values)


def _complete(name: str, objects: Iterable[Object]) -> str:
    return complete_digest(prepare(obj, applyset_id(name)) for obj in objects)
