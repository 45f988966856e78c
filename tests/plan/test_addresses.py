"""Who has an address of whereabouts, and whose end would need it."""

from __future__ import annotations

from typing import Any

import pytest

from modelyard.objects import GroupKind
from modelyard.plan.addresses import ATTACHMENT, POOL, holders, strands_pods


def pool(*pods: str) -> dict[str, Any]:
    allocations = {str(number): {"podref": pod, "ifname": "net1"} for number, pod in enumerate(pods)}
    return {"kind": "IPPool", "metadata": {"name": "10.20.1.0-24"}, "spec": {"allocations": allocations}}


def test_pods_that_have_an_address_are_named_once() -> None:
    assert holders([pool("n/b", "n/a"), pool("n/a")], {"n/a", "n/b", "n/c"}) == ["n/a", "n/b"]


def test_an_address_of_a_pod_that_is_gone_holds_nothing() -> None:
    assert holders([pool("n/gone"), pool()], {"n/a"}) == []


@pytest.mark.parametrize(
    ("going", "expected"),
    [({POOL}, True), ({POOL, ATTACHMENT}, False), ({ATTACHMENT}, False), ({GroupKind("", "Pod")}, False)],
)
def test_pods_are_stranded_where_only_the_addresses_go(going: set[GroupKind], expected: bool) -> None:
    assert strands_pods(going) is expected
