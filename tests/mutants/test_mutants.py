"""The table of mutants is about tests that there are, and a run's report is read right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from run import Mutant, Verdict, chosen, load, outcomes_of, table

from modelyard.paths import data_root

MUTANTS = load()
LEAST = 30


def sources_of(area: str) -> str:
    """Return the names of an area's tests, parameters included as far as the source spells them."""
    return "\n".join(path.read_text() for path in (data_root() / "conformance" / area).glob("test_*.py"))


def test_the_platform_is_broken_in_many_ways() -> None:
    assert len(MUTANTS) >= LEAST
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert len({mutant.command for mutant in MUTANTS}) == len(MUTANTS)


def test_every_area_is_broken() -> None:
    areas = {path.parent.name for path in (data_root() / "conformance").glob("*/test_*.py")}
    assert {mutant.area for mutant in MUTANTS} == areas


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_names_sources_of_its_area(mutant: Mutant) -> None:
    source = sources_of(mutant.area)
    for word in re.split(r" and | or |not |[()]", mutant.select):
        assert not word.strip() or word.strip().lower() in source.lower(), word


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_breaks_the_platform_and_not_the_tests(mutant: Mutant) -> None:
    assert mutant.command.startswith(("kubectl", "python tests/mutants/edit_config.py"))
    assert "conformance/" not in mutant.command
    assert "examples/" not in mutant.command


def test_a_run_that_was_ended_goes_on_where_it_was() -> None:
    names = [mutant.name for mutant in chosen(MUTANTS, (), "KubeRay")]
    assert names == [mutant.name for mutant in MUTANTS[len(MUTANTS) - len(names) :]]
    assert names[0] == "KubeRay at zero replicas"


def test_a_name_chooses_what_is_broken_and_one_that_nothing_has_chooses_nothing() -> None:
    assert {mutant.name for mutant in chosen(MUTANTS, ("KubeRay",), "")} == {
        "KubeRay at zero replicas",
        "KubeRay may not make pods",
    }
    assert chosen(MUTANTS, (), "no such break") == []


def test_a_report_says_what_each_test_came_to(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(
        '<testsuites><testsuite><testcase name="a"/><testcase name="b"><skipped message="not installed"/></testcase>'
        '<testcase name="c"><failure message="AssertionError: no node&#10;more"/></testcase>'
        '<testcase name="d"><error/></testcase></testsuite></testsuites>'
    )
    assert outcomes_of(report) == {"a": "passed", "b": "skipped", "c": "AssertionError: no node", "d": "failed"}


def test_a_break_that_was_not_seen_is_shown_as_such() -> None:
    mutant = Mutant("x at zero", "queue", "gang", "kubectl scale x")
    shown = table([Verdict(mutant, "", 3.2), Verdict(mutant, "gang: not | within", 1.0)])
    assert "| x at zero | queue | NOT SEEN | 3 |" in shown
    assert "| x at zero | queue | gang: not / within | 1 |" in shown
