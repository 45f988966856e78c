"""What counts as proved, and what is said where it does not; that each component has a test at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.proof.marks import Claim, by_component, claims
from conformance.proof.parts import Parts, components, parts_of
from conformance.proof.record import Entry, Passed
from conformance.proof.standing import Unproved, surprises, unproved
from modelyard.catalog import load
from modelyard.events import discard
from modelyard.paths import data_root
from modelyard.platform.workspace import Workspace

PARTS = Parts("o", "b")
TEST = "gateway/test_scaling.py::test_a"
CLAIMS = (Claim(TEST, ("keda",), simulated=False),)
PASSED = Passed("2026-01-02T03:04:05Z", "c0ffee", "code")


def said(
    parts: Parts = PARTS,
    found: tuple[Claim, ...] = CLAIMS,
    tests: Mapping[str, Passed] | None = None,
    code: str = "code",
) -> str:
    entry = Entry("o", "b", {TEST: PASSED} if tests is None else tests)
    result = unproved("keda", parts, found, entry, lambda test: code)
    return str(result) if result else ""


def test_a_component_is_proved_while_nothing_has_changed() -> None:
    assert said() == ""


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (said(Parts("x", "b")), "its objects changed since its proof"),
        (said(Parts("o", "x")), "what its images are built from changed since its proof"),
        (said(Parts("x", "x")), "its objects and what its images are built from changed"),
        (said(code="x"), f"{TEST} changed since it passed"),
        (said(tests={}), f"{TEST} has not proved it"),
    ],
)
def test_a_component_that_changed_is_named_with_the_reason_and_the_next_command(found: str, reason: str) -> None:
    assert found.startswith("component keda: ")
    assert reason in found
    assert found.endswith('Next: make prove AREA="gateway"')


def test_a_component_that_is_not_recorded_or_has_no_test_says_so() -> None:
    assert "has no recorded proof" in str(unproved("keda", PARTS, CLAIMS, None, lambda test: "code"))
    assert "no test is marked to prove it" in said(found=())


def test_every_component_of_full_has_a_test_that_proves_it() -> None:
    catalog = load(data_root())
    named = set(by_component(claims(data_root() / "conformance")))
    assert sorted(set(components(catalog)) - named) == []
    assert sorted(named - set(catalog.components)) == [], "no such components"


def test_marks_are_read_from_a_test_and_from_its_module(tmp_path: Path) -> None:
    file = tmp_path / "queue" / "test_a.py"
    file.parent.mkdir()
    file.write_text(
        'pytestmark = [pytest.mark.needs("x"), pytest.mark.proves("a", simulated=True)]\n\n\n'
        '@pytest.mark.proves("b", "c")\n@pytest.mark.parametrize("x", [1])\ndef test_a(x):\n    pass\n\n\n'
        "def test_b():\n    pass\n"
    )
    assert claims(tmp_path) == (
        Claim("queue/test_a.py::test_a", ("a", "b", "c"), simulated=True),
        Claim("queue/test_a.py::test_b", ("a",), simulated=True),
    )


def test_digests_are_of_the_content_alone() -> None:
    """Two renders of one component are one digest; two components have two."""
    workspace = Workspace(None, discard)
    catalog = workspace.catalog()
    first = parts_of(catalog, workspace.renderer(), ["tenancy", "kwok", "mpi-runtime"])
    assert parts_of(catalog, workspace.renderer(), ["mpi-runtime", "kwok", "tenancy"]) == first
    assert len({each.objects for each in first.values()}) == len(first)
    assert len({each.builds for each in first.values()}) == len(first)


def test_what_is_known_to_be_unproved_is_no_surprise_and_what_is_proved_must_not_be_listed() -> None:
    found = [Unproved("keda", "has no recorded proof", ()), Unproved("kueue", "has no recorded proof", ())]
    assert surprises(found, {"keda": "needs a registry", "lws": "no longer true"}) == ([found[1]], ["lws"])
    assert surprises(found, {}) == (found, [])
