"""What is in use by whom, by the rule that Kueue's component.yaml has."""

from __future__ import annotations

from typing import Any

import pytest

from modelyard.catalog import load
from modelyard.objects import ObjectRef
from modelyard.paths import data_root
from modelyard.plan.draining import in_use

[RULE] = load(data_root()).component("kueue").removal.drains
QUEUE = ObjectRef("kueue.x-k8s.io", "ClusterQueue", "", "gpus")
ADMITTED = {"admission": {"clusterQueue": "gpus"}}


def workload(name: str, status: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "team"}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": metadata, "status": status}


def test_a_job_that_was_admitted_holds_its_queue() -> None:
    held = in_use(RULE, [QUEUE], [workload("b", ADMITTED), workload("a", ADMITTED)])
    assert {str(queue): [ref.name for ref in found] for queue, found in held.items()} == {str(QUEUE): ["a", "b"]}


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"admission": {"clusterQueue": "others"}},
        {**ADMITTED, "conditions": [{"type": "Finished", "status": "True"}]},
    ],
    ids=["waiting", "elsewhere", "finished"],
)
def test_others_hold_nothing(status: dict[str, Any]) -> None:
    assert in_use(RULE, [QUEUE], [workload("a", status)]) == {}


def test_a_job_that_has_not_finished_says_so() -> None:
    conditions = [{"type": "Finished", "status": "False"}, {"type": "Admitted", "status": "True"}]
    assert QUEUE in in_use(RULE, [QUEUE], [workload("a", {**ADMITTED, "conditions": conditions})])
