"""How far each component is proved on each target: what conformance has recorded, not what anybody says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from conformance.proof import marks, record, standing
from conformance.proof.marks import Claim
from conformance.proof.record import Record
from modelyard.catalog import Catalog

# The only target that runs here; on the others a real apiserver takes every object (tests/manifests/test_dry_run.py).
RUNS_HERE = "local"


class Word(StrEnum):
    """How far a component is proved on a target."""

    PROVED = "proved"
    SIMULATED = "proved, simulated"
    UNPROVED = "not proved"
    DRY_RUN = "rendered and dry-run"


@dataclass(frozen=True, slots=True)
class Proofs:
    """The record, and what the tests claim."""

    record: Record
    claims: Mapping[str, tuple[Claim, ...]]

    def word(self, catalog: Catalog, target: str, component: str) -> Word | None:
        """Return how far a component is proved on a target; None where the target does not have it."""
        if component not in catalog.available(target):
            return None
        if catalog.base(target) != RUNS_HERE:
            return Word.DRY_RUN
        claims = self.claims.get(component, ())
        if not claims or set(self.days(component)) != set(claims):
            return Word.UNPROVED
        return Word.SIMULATED if all(claim.simulated for claim in claims) else Word.PROVED

    def days(self, component: str) -> Mapping[Claim, str]:
        """Return when each test has proved the component."""
        return standing.proofs(self.claims.get(component, ()), self.record.get(component))

    def summary(self, catalog: Catalog, target: str) -> str:
        """Return how many components of a target are proved how far: "9 proved, 1 rendered and dry-run"."""
        counted = Counter(self.word(catalog, target, name) for name in catalog.available(target))
        return ", ".join(f"{counted[word]} {word}" for word in Word if counted[word])


def read(root: Path) -> Proofs:
    """Return what is recorded in the clone at `root`."""
    suite = root / "conformance"
    return Proofs(record.read(suite / record.FILE), marks.by_component(marks.claims(suite)))
