"""A component's rules for its removal hold with those of what it requires, whoever provides that."""

from __future__ import annotations

from modelyard.apply.run import rules_of
from modelyard.catalog import load
from modelyard.catalog.removal import NO_RULES
from modelyard.paths import data_root

CATALOG = load(data_root())


def test_queues_are_drained_and_certificates_known_whoever_runs_kueue_and_cert_manager() -> None:
    found = rules_of(CATALOG, "tenancy")
    assert [each.kind for each in found.drains] == ["ClusterQueue.kueue.x-k8s.io"]
    assert {each.kind for each in found.byProducts} == {"Workload.kueue.x-k8s.io", "Secret"}


def test_what_pods_need_is_the_affair_of_the_component_that_says_so() -> None:
    assert [each.asks for each in rules_of(CATALOG, "whereabouts").holds] == ["multus"]
    requiring = [name for name, item in CATALOG.components.items() if "whereabouts" in item.requires]
    assert all(rules_of(CATALOG, name).holds == () for name in requiring)


def test_a_component_that_says_nothing_and_requires_nothing_has_none() -> None:
    alone = [name for name, item in CATALOG.components.items() if not item.requires and item.removal == NO_RULES]
    assert alone
    assert all(rules_of(CATALOG, name) == NO_RULES for name in alone)
