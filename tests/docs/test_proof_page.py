"""The reference says of a component what the record says, and nothing more."""

from __future__ import annotations

import pytest

from conformance.proof.marks import Claim
from conformance.proof.record import Entry, Passed
from docs.generators.proof import Proofs, Word
from modelyard.catalog import Catalog, load
from modelyard.paths import data_root

REAL = Claim("queue/test_a.py::test_a", ("kueue",), simulated=False)
SIMULATED = Claim("autoscaler/test_b.py::test_b", ("karpenter",), simulated=True)
CLAIMS = {"kueue": (REAL,), "karpenter": (SIMULATED,)}
PASSED = Passed("2026-01-02T03:04:05Z", "c0ffee", "x")


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load(data_root())


def entry(claim: Claim) -> Entry:
    return Entry("o", "b", {claim.test: PASSED})


def test_a_component_is_proved_where_its_tests_are_recorded(catalog: Catalog) -> None:
    proofs = Proofs({"kueue": entry(REAL), "karpenter": entry(SIMULATED)}, CLAIMS)
    assert proofs.word(catalog, "local", "kueue") is Word.PROVED
    assert proofs.word(catalog, "local", "karpenter") is Word.SIMULATED
    assert proofs.days("kueue") == {REAL: "2026-01-02"}


def test_without_a_record_nothing_is_proved(catalog: Catalog) -> None:
    proofs = Proofs({"kueue": Entry("o", "b", {})}, CLAIMS)
    assert {proofs.word(catalog, "local", name) for name in catalog.available("local")} == {Word.UNPROVED}


def test_a_test_that_is_no_longer_there_proves_nothing(catalog: Catalog) -> None:
    assert Proofs({"kueue": entry(SIMULATED)}, CLAIMS).word(catalog, "local", "kueue") is Word.UNPROVED


def test_a_component_without_a_test_is_not_proved_by_an_empty_entry(catalog: Catalog) -> None:
    assert Proofs({"jobset": Entry("o", "b", {})}, {}).word(catalog, "local", "jobset") is Word.UNPROVED


def test_real_pods_are_claimed_on_no_target_that_does_not_run_here(catalog: Catalog) -> None:
    proofs = Proofs({"kueue": entry(REAL)}, CLAIMS)
    for target in catalog.targets:
        for name in catalog.components:
            word = proofs.word(catalog, target, name)
            assert (word is None) == (name not in catalog.available(target))
            if catalog.base(target) != "local":
                assert word in (None, Word.DRY_RUN)
    assert proofs.summary(catalog, "openshift") == f"{len(catalog.available('openshift'))} rendered and dry-run"
