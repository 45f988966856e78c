"""How far each component is proved on each target, from the catalogue."""

from __future__ import annotations

from collections import Counter

from modelyard.catalog import Catalog, Proof

# The only target that runs here; what is on it is proved as it is.
RUNS_HERE = "local"
WORDS = {Proof.REAL: "real", Proof.SIMULATED: "simulated", Proof.DRY_RUN: "dry-run only"}


def proof_on(catalog: Catalog, target: str, component: str) -> Proof | None:
    """Return how far a component is proved on a target; None where the target does not have it."""
    if component not in catalog.available(target):
        return None
    return catalog.component(component).proof if catalog.base(target) == RUNS_HERE else Proof.DRY_RUN


def summary(catalog: Catalog, target: str) -> str:
    """Return how many components of a target are proved how far: "9 real, 1 dry-run only"."""
    counted = Counter(proof_on(catalog, target, name) for name in catalog.available(target))
    return ", ".join(f"{counted[proof]} {word}" for proof, word in WORDS.items() if counted[proof])
