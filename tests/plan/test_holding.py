"""Who has an address of whereabouts, and whose end would need it, by the rule that its component.yaml has."""

from __future__ import annotations

from typing import Any

import pytest

from modelyard.catalog import load
from modelyard.paths import data_root
from modelyard.plan.holding import held_pods, strands_pods

[RULE] = load(data_root()).component("whereabouts").removal.holds


def pool(*pods: str) -> dict[str, Any]:
    allocations = {str(number): {"podref": pod, "ifname": "net1"} for number, pod in enumerate(pods)}
    return {"kind": "IPPool", "metadata": {"name": "10.20.1.0-24"}, "spec": {"allocations": allocations}}


def test_pods_that_have_an_address_are_named_once() -> None:
    assert held_pods(RULE, pool("n/b", "n/a", "n/a"), {"n/a", "n/b", "n/c"}) == ["n/a", "n/b"]


def test_an_address_of_a_pod_that_is_gone_holds_nothing() -> None:
    assert held_pods(RULE, pool("n/gone"), {"n/a"}) == []
    assert held_pods(RULE, pool(), {"n/a"}) == []


@pytest.mark.parametrize(
    ("going", "expected"),
    [({"whereabouts"}, True), ({"whereabouts", "multus"}, False), ({"multus"}, False), ({"kueue"}, False)],
)
def test_pods_are_stranded_where_only_the_addresses_go(going: set[str], expected: bool) -> None:
    assert strands_pods(RULE, "whereabouts", going) is expected
