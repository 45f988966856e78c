"""What component.yaml says it serves is in the checklist, and the page says how far it is proved where."""

from __future__ import annotations

import pytest

from docs.generators.proof import proof_on, summary
from docs.generators.requirements import REQUIREMENTS
from modelyard.catalog import Catalog, Proof, load
from modelyard.paths import data_root


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load(data_root())


def test_every_requirement_that_a_component_serves_is_in_the_checklist(catalog: Catalog) -> None:
    known = {each.id for each in REQUIREMENTS}
    assert len(known) == len(REQUIREMENTS)
    for component in catalog.components.values():
        assert set(component.requirements) <= known, component.name


def test_real_pods_are_claimed_on_no_target_that_does_not_run_here(catalog: Catalog) -> None:
    for target in catalog.targets:
        for name in catalog.components:
            proof = proof_on(catalog, target, name)
            assert (proof is None) == (name not in catalog.available(target))
            if catalog.base(target) != "local":
                assert proof in (None, Proof.DRY_RUN)
    assert proof_on(catalog, "local", "kueue") is Proof.REAL


def test_the_summary_of_a_target_counts_all_that_it_has(catalog: Catalog) -> None:
    count = len(catalog.available("openshift"))
    assert summary(catalog, "openshift") == f"{count} dry-run only"
