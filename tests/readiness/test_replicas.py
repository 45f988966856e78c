"""A workload at zero replicas: asked for by its manifest, by an autoscaler, or by nobody who may."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from modelyard.plan.replicas import with_replicas
from modelyard.readiness import Status, assess
from modelyard.readiness.replicas import Writer, ago, is_autoscaled

Obj = dict[str, Any]
REPLICAS = {"f:spec": {"f:replicas": {}}}
OTHER = {"f:spec": {"f:template": {}}}


def wrote(manager: str, fields: Obj, *, subresource: str = "", operation: str = "Update") -> Obj:
    return {
        "manager": manager,
        "operation": operation,
        "fieldsV1": fields,
        "time": "2026-01-01T00:00:00Z",
        **({"subresource": subresource} if subresource else {}),
    }


def workload(replicas: int, *managed: Obj, kind: str = "Deployment") -> Obj:
    metadata = {"name": "x", "namespace": "ns", "generation": 1, "managedFields": list(managed)}
    status = {"observedGeneration": 1, "replicas": replicas, "updatedReplicas": replicas}
    status |= {"readyReplicas": replicas, "availableReplicas": replicas}
    spec = {"replicas": replicas}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec, "status": status}


OURS = wrote("modelyard", OTHER, operation="Apply")
OURS_WITH_REPLICAS = wrote("modelyard", REPLICAS, operation="Apply")
SCALED = wrote("kubectl", {}, subresource="scale")  # to zero: the subresource leaves a zero out
KUBECTL = wrote("kubectl", REPLICAS, subresource="scale")
EDITED = wrote("kubectl-edit", REPLICAS)
AUTOSCALER = wrote("kube-controller-manager", REPLICAS, subresource="scale")
KEDA = wrote("keda", REPLICAS, subresource="scale")
DEFAULTS = wrote("kube-controller-manager", {"f:status": {}}, subresource="status")


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "ReplicaSet"])
@pytest.mark.parametrize(("writer", "name"), [(SCALED, ""), (EDITED, " by kubectl-edit")])
def test_a_workload_of_the_platform_that_somebody_scaled_to_zero_is_not_ready(
    kind: str, writer: Obj, name: str
) -> None:
    state = assess(workload(0, OURS, writer, DEFAULTS, kind=kind))
    assert (state.status, state.reason) == (Status.IN_PROGRESS, f"0 of 0 replicas; scaled down{name}")


@pytest.mark.parametrize(
    "managed",
    [
        [OURS_WITH_REPLICAS],  # its manifest asks for none
        [OURS_WITH_REPLICAS, KUBECTL],  # and somebody agrees
        [KUBECTL],  # not the platform's
        [],
    ],
)
def test_zero_replicas_that_somebody_may_ask_for_are_ready(managed: list[Obj]) -> None:
    assert assess(workload(0, *managed)).current


def test_another_number_of_replicas_is_judged_by_the_pods() -> None:
    assert assess(workload(1, OURS, KUBECTL)).current


def test_an_autoscaler_is_told_by_the_scale_subresource() -> None:
    assert is_autoscaled(workload(3, OURS, AUTOSCALER))
    assert not is_autoscaled(workload(3, OURS, KUBECTL))
    assert not is_autoscaled(workload(3, OURS, wrote("kube-controller-manager", REPLICAS)))


def named(replicas: int | None) -> Obj:
    spec = {"template": {}} | ({} if replicas is None else {"replicas": replicas})
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "namespace": "ns"}, "spec": spec}


@pytest.mark.parametrize(
    ("desired", "live", "sent"),
    [
        (1, None, 1),
        (None, None, None),
        (1, workload(0, OURS, SCALED), 1),
        (None, workload(0, OURS, SCALED), 1),
        (None, workload(2, OURS, KUBECTL), None),
        (1, workload(2, OURS, KUBECTL), 1),
        (1, workload(5, OURS, AUTOSCALER), None),
        (1, workload(1, OURS, KEDA), None),
        (0, workload(0, OURS_WITH_REPLICAS), 0),
    ],
)
def test_the_replicas_that_are_sent(desired: int | None, live: Obj | None, sent: int | None) -> None:
    before = named(desired)
    assert with_replicas(before, live) == named(sent)
    assert before == named(desired)


@pytest.mark.parametrize(
    ("minutes", "said"),
    [(0.2, " 0 min ago"), (3, " 3 min ago"), (180, " 3 h ago"), (5 * 1440, " 5 days ago"), (-9, "")],
)
def test_since_when_is_told_unless_the_clocks_differ(minutes: float, said: str) -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    now = datetime.fromtimestamp(began.timestamp() + minutes * 60, UTC)
    assert ago(Writer("kubectl", "2026-01-01T00:00:00Z"), now) == said
    assert ago(Writer("kubectl", ""), now) == ""
