"""Costs: which pods are whose, what is counted, and where it is written."""

from __future__ import annotations

from typing import Any

from benchmarks.costs import Use, cost_of, pods_of, with_cost
from modelyard.catalog import Component, Cost
from modelyard.plan.inventory import PART_OF_LABEL, applyset_id


def component(name: str, namespace: str) -> Component:
    about = {"area": "cluster", "summary": "x", "licence": "MIT"}
    return Component.model_validate({"name": name, "namespace": namespace} | about)


def owned(uid: str, by: str = "", *, part_of: str = "", namespace: str = "shared", phase: str = "Running") -> Any:
    labels = {PART_OF_LABEL: applyset_id(part_of)} if part_of else {}
    above = [{"uid": by}] if by else []
    metadata = {"uid": uid, "namespace": namespace, "labels": labels, "ownerReferences": above}
    return {"metadata": metadata, "status": {"phase": phase}}


def test_a_pod_is_of_the_component_whose_workload_owns_it_or_that_has_the_namespace_to_itself() -> None:
    components = {each.name: each for each in (component("a", "shared"), component("b", "shared"), component("c", "c"))}
    owners = {
        "Deployment": [owned("deployment", part_of="b")],
        "ReplicaSet": [owned("set", "deployment")],
        "DaemonSet": [owned("daemons", part_of="a")],
    }
    pods = [
        owned("of-b", "set"),
        owned("of-a", "daemons", namespace="c"),
        owned("of-c", "some custom resource", namespace="c"),
        owned("of-nobody", "some custom resource"),
        owned("over", "set", phase="Succeeded"),
    ]
    assert pods_of(components, pods, owners) == {"a": ["of-a"], "b": ["of-b"], "c": ["of-c"]}


def test_a_cost_is_the_sum_of_all_pods_rounded_up_and_there_is_none_while_pods_come_and_go() -> None:
    first = (Use(cpu=10.0, memory=0, at=100.0), Use(cpu=10.25, memory=20 << 20, at=200.0))
    second = (Use(cpu=0.0, memory=0, at=100.0), Use(cpu=0.101, memory=1, at=200.0))
    came = (None, Use(cpu=50.0, memory=1 << 30, at=200.0))
    assert cost_of([first, second]) == Cost(cpu=4, memory=21)
    assert cost_of([first, came]) is None


def test_a_cost_takes_the_place_of_the_one_before() -> None:
    assert with_cost("name: a\n", Cost(cpu=3, memory=20)) == ("name: a\ncost: {cpu: 3, memory: 20}\n")
    before = "name: a\ncost: {cpu: 1, memory: 1}\n"
    assert with_cost(before, Cost(cpu=3, memory=20)) == "name: a\ncost: {cpu: 3, memory: 20}\n"
