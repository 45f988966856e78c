"""`make mutants`: break an installed platform in many ways, and see the conformance suite turn red at each.

First the chosen tests run on the platform as it is: all must pass, or a red one later means nothing. Then, one by one:
break it, run the tests that must see it, install again, which takes the break back. A break that stays green is a
defect of the suite.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import yaml

from modelyard.cluster import Session, connect
from modelyard.local.state.layout import layout
from modelyard.objects import GroupKind, ObjectRef, number, ref_of
from modelyard.plan.stuck import is_going

TABLE = Path(__file__).with_name("mutants.yaml")
MODELYARD = Path(sys.executable).with_name("modelyard")
PATIENCE = 60  # seconds that a test waits for anything, on a broken platform
PATIENCE_UNBROKEN = 240
SETTLE_SECONDS = 120
MINUTES = 15


@dataclass(frozen=True, slots=True)
class Mutant:
    """One way to break the platform.

    Args:
        name: what is broken.
        area: the area whose tests must see it.
        select: which tests of it, as pytest's -k.
        command: breaks it.
        after: a command once the installer has taken it back; may be empty.
    """

    name: str
    area: str
    select: str
    command: str
    after: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant: `seen` is what the first failing test said, empty where all stayed green."""

    mutant: Mutant
    seen: str
    seconds: float
    trouble: str = ""


def load(path: Path = TABLE) -> tuple[Mutant, ...]:
    """Read the table; KeyError or TypeError for a malformed line."""
    rows: list[dict[str, str]] = yaml.safe_load(path.read_text())
    return tuple(
        Mutant(row.pop("name"), row.pop("area"), row.pop("select"), row.pop("break"), **row) for row in map(dict, rows)
    )


def main() -> int:
    """Run them; return 0 where each was seen."""
    arguments = _parser().parse_args()
    mutants = chosen(load(), arguments.only or (), arguments.begin)
    if not mutants:
        print(f"no break of {TABLE.name} has such a name", file=sys.stderr)
        return 2
    platform = Platform(arguments.name)
    if failed := platform.passes_unbroken(mutants):
        print(f"these do not pass on the platform as it is: {', '.join(failed)}", file=sys.stderr)
        return 2
    verdicts = []
    for mutant in mutants:
        verdicts.append(verdict := platform.judge(mutant))
        print(_row(verdict), flush=True)
        arguments.report.parent.mkdir(parents=True, exist_ok=True)
        arguments.report.write_text(table(verdicts))
    green = [each for each in verdicts if not each.seen]
    print(f"{len(verdicts) - len(green)} of {len(verdicts)} breaks were seen; table: {arguments.report}")
    return 1 if green else 0


def chosen(mutants: Sequence[Mutant], only: Sequence[str], begin: str) -> list[Mutant]:
    """Return those whose names hold a word of `only` (all, if it is empty), from the first on that holds `begin`."""
    first = next((index for index, each in enumerate(mutants) if begin in each.name), len(mutants))
    return [each for each in mutants[first:] if not only or any(part in each.name for part in only)]


def table(verdicts: Iterable[Verdict]) -> str:
    """Return the table in Markdown."""
    head = "| broken | area | seen by | s |\n| --- | --- | --- | --- |\n"
    return head + "".join(f"{_row(verdict)}\n" for verdict in verdicts)


def _row(verdict: Verdict) -> str:
    said = verdict.seen or verdict.trouble or "NOT SEEN"
    return f"| {verdict.mutant.name} | {verdict.mutant.area} | {said.replace('|', '/')} | {verdict.seconds:.0f} |"


class Platform:
    """An embedded cluster with the profile `full` on it.

    Args:
        name: the cluster's name.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        # This environment's python; kubectl is there too (`install` sees to it) where the machine has none.
        here = f"{MODELYARD.parent}:{os.environ['PATH']}"
        self._environment = {**os.environ, "KUBECONFIG": str(layout(name).kubeconfig), "PATH": here}

    def passes_unbroken(self, mutants: Sequence[Mutant]) -> list[str]:
        """Run all chosen tests as they are; return those that did not pass, skipped ones too."""
        selected: dict[str, list[str]] = {}
        for mutant in mutants:
            selected.setdefault(mutant.area, []).append(f"({mutant.select})")
        return [
            test
            for area, selects in selected.items()
            for test, outcome in self._conformance(area, " or ".join(selects), PATIENCE_UNBROKEN).items()
            if outcome != "passed"
        ]

    def judge(self, mutant: Mutant) -> Verdict:
        """Break the platform, run what must see it, and bring the platform back."""
        began = time.monotonic()
        seen = trouble = ""
        try:
            self._shell(mutant.command)
            self._settle()
            outcomes = self._conformance(mutant.area, mutant.select, PATIENCE)
            seen = next((f"{test}: {said}" for test, said in outcomes.items() if said not in ("passed", "skipped")), "")
        except subprocess.CalledProcessError as error:
            trouble = f"the break did not apply: {str(error.stderr).strip()[-200:]}"
        except (subprocess.TimeoutExpired, RuntimeError) as error:
            trouble = f"not judged: {str(error)[-200:]}"
        finally:
            self._back(mutant)
        return Verdict(mutant, seen, time.monotonic() - began, trouble)

    def _settle(self) -> None:
        """Wait until the break is what runs: no Deployment has pods too many, and none is still ending."""
        session = connect(layout(self._name).kubeconfig)
        deadline = time.monotonic() + SETTLE_SECONDS
        while unsettled := [*_behind(session), *_ending(session)]:
            if time.monotonic() > deadline:
                raise RuntimeError(f"still changing after {SETTLE_SECONDS} s: {', '.join(map(str, unsettled))}")
            session.transport.cancelled.wait(0.5)

    def _back(self, mutant: Mutant) -> None:
        subprocess.run([MODELYARD, "install", "--name", self._name, "--no-smoke"], check=True, timeout=60 * MINUTES)
        if mutant.after:
            self._shell(mutant.after)

    def _shell(self, command: str) -> None:
        subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            env=self._environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=60 * MINUTES,
        )

    def _conformance(self, area: str, select: str, patience: int) -> Mapping[str, str]:
        """Return what became of each test: "passed", "skipped", or the first line of why it failed."""
        with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
            report = Path(scratch) / "junit.xml"
            # fmt: off
            done = subprocess.run(
                [MODELYARD, "conformance", "--name", self._name, "--area", area, "-k", select,
                 "--patience", str(patience), "--junit", report],
                check=False, capture_output=True, text=True, timeout=60 * MINUTES,
            )
            # fmt: on
            if not report.is_file() or not (outcomes := outcomes_of(report)):
                raise RuntimeError(f"no test of area {area} ran by -k '{select}': {done.stderr[-500:]}")
            return outcomes


def _behind(session: Session) -> list[ObjectRef]:
    listing = session.list(GroupKind("apps", "Deployment"))
    return [
        ref_of(item)
        for item in (listing.items if listing else ())
        if number(item, "status", "observedGeneration") < number(item, "metadata", "generation")
        or number(item, "status", "replicas") > number(item, "spec", "replicas")
    ]


def _ending(session: Session) -> list[ObjectRef]:
    listing = session.list(GroupKind("", "Pod"))
    return [ref_of(item) for item in (listing.items if listing else ()) if is_going(item)]


def outcomes_of(report: Path) -> dict[str, str]:
    """Return the outcome of each test in a JUnit report; for one that failed, the first line of why."""
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        found[case.get("name", "")] = _outcome(case)
    return found


def _outcome(case: ElementTree.Element) -> str:
    for part in case:
        if part.tag in ("failure", "error"):
            return (part.get("message", "").splitlines() or ["failed"])[0][:160]
        if part.tag == "skipped":
            return "skipped"
    return "passed"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--name", default="modelyard", help="the embedded cluster, with the profile full on it")
    parser.add_argument("--only", action="append", help="only mutants whose name holds this; may be repeated")
    parser.add_argument("--from", dest="begin", default="", help="begin with the first one whose name holds this")
    parser.add_argument("--report", type=Path, default=Path("build/reports/mutants.md"))
    return parser


if __name__ == "__main__":
    sys.exit(main())
