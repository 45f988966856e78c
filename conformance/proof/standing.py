"""What is proved today: the record against what is in the clone. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.proof.marks import Claim
from conformance.proof.parts import Parts
from conformance.proof.record import PROVE, Entry


@dataclass(frozen=True, slots=True)
class Unproved:
    """A component that is not proved, with the reason and the areas whose run would prove it."""

    component: str
    reason: str
    areas: tuple[str, ...]

    def __str__(self) -> str:
        if not self.areas:
            return f"component {self.component}: {self.reason}"
        return f"component {self.component}: {self.reason}. Next: {command(self.areas)}"


def command(areas: tuple[str, ...]) -> str:
    """Return the command that proves what these areas prove."""
    return f'{PROVE} AREA="{" ".join(areas)}"'


def unproved(
    name: str, parts: Parts, claims: tuple[Claim, ...], entry: Entry | None, code: Callable[[str], str]
) -> Unproved | None:
    """Return why a component is not proved; None where it is.

    Args:
        name: the component.
        parts: what it is now.
        claims: the tests that prove it.
        entry: what is recorded of it.
        code: gives the digest of a test as it is now.
    """
    if not claims:
        return Unproved(name, 'no test is marked to prove it: @pytest.mark.proves("...") in conformance/', ())
    if entry is None:
        return Unproved(name, "has no recorded proof", areas_of(claims))
    changed = [what for what, now, then in _digests(parts, entry) if now != then]
    if changed:
        return Unproved(name, f"{' and '.join(changed)} changed since its proof", areas_of(claims))
    reasons = {claim: reason for claim in claims if (reason := _stale(claim, entry, code))}
    if reasons:
        return Unproved(name, "; ".join(reasons.values()), areas_of(tuple(reasons)))
    return None


def surprises(found: Sequence[Unproved], said: Mapping[str, str]) -> tuple[list[Unproved], list[str]]:
    """Return what is unproved without a word, and what is said to be unproved and is not.

    Args:
        found: the components that are not proved.
        said: those of which unproved.yaml says so, with the reason.
    """
    names = {each.component for each in found}
    return [each for each in found if each.component not in said], sorted(said.keys() - names)


def areas_of(claims: tuple[Claim, ...]) -> tuple[str, ...]:
    """Return the areas of these tests, sorted."""
    return tuple(sorted({claim.area for claim in claims}))


def _digests(parts: Parts, entry: Entry) -> Iterator[tuple[str, str, str]]:
    yield "its objects", parts.objects, entry.objects
    yield "what its images are built from", parts.builds, entry.builds


def _stale(claim: Claim, entry: Entry, code: Callable[[str], str]) -> str:
    passed = entry.tests.get(claim.test)
    if passed is None:
        return f"{claim.test} has not proved it"
    return "" if passed.code == code(claim.test) else f"{claim.test} changed since it passed"


def proofs(claims: tuple[Claim, ...], entry: Entry | None) -> Mapping[Claim, str]:
    """Return the day on which each of these tests proved a component, as the record says."""
    tests = entry.tests if entry is not None else {}
    return {claim: tests[claim.test].at[:10] for claim in claims if claim.test in tests}
