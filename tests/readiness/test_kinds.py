"""Object -> Current | InProgress | Failed, with the exact reason, kind by kind (the kstatus rules)."""

from __future__ import annotations

from typing import Any

import pytest

from modelyard.readiness import Status, assess, pods_exist

Obj = dict[str, Any]


def make(api_version: str, kind: str, spec: Obj | None = None, status: Obj | None = None, **metadata: Any) -> Obj:
    meta = {"name": "x", "namespace": "ns", "generation": 1} | metadata
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": spec or {}, "status": status or {}}


def deployment(wanted: int = 2, **status: Any) -> Obj:
    return make("apps/v1", "Deployment", {"replicas": wanted}, {"observedGeneration": 1} | status)


def condition(name: str, value: str = "True", reason: str = "", message: str = "") -> Obj:
    return {"conditions": [{"type": name, "status": value, "reason": reason, "message": message}]}


ALL = {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}
SETS = {"currentNumberScheduled": 2, "updatedNumberScheduled": 2, "numberReady": 2, "numberAvailable": 2}

CURRENT = [
    deployment(**ALL),
    deployment(0),
    make("apps/v1", "StatefulSet", {"replicas": 1}, {"replicas": 1, "readyReplicas": 1}),
    make("apps/v1", "StatefulSet", {"updateStrategy": {"type": "OnDelete"}}),
    make("apps/v1", "DaemonSet", {}, {"observedGeneration": 1, "desiredNumberScheduled": 2} | SETS),
    make("apps/v1", "ReplicaSet", {"replicas": 2}, ALL),
    make("batch/v1", "Job", {}, condition("Complete")),
    make("batch/v1", "Job", {"suspend": True}),
    make("v1", "Pod", {}, {"phase": "Succeeded"}),
    make("v1", "Pod", {}, {"phase": "Running"} | condition("Ready")),
    make("v1", "PersistentVolumeClaim", {}, {"phase": "Bound"}),
    make("v1", "Service"),
    make("v1", "Service", {"type": "LoadBalancer"}, {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}),
    make("v1", "Namespace", {}, {"phase": "Active"}),
    make("v1", "ConfigMap"),
    make("apiextensions.k8s.io/v1", "CustomResourceDefinition", {}, condition("Established")),
    make("apiregistration.k8s.io/v1", "APIService", {}, condition("Available")),
    make("example.test/v1", "Thing"),
    make("example.test/v1", "Thing", {}, {"observedGeneration": 1} | condition("Ready")),
    make("serving.example.test/v1", "Service", {"type": "LoadBalancer"}),  # the name alone is not the kind
]

UNREADY = [
    (deployment(readyReplicas=0, updatedReplicas=2), "0/2 ready"),
    (deployment(updatedReplicas=1), "1/2 updated"),
    (deployment(updatedReplicas=2, readyReplicas=2, availableReplicas=1), "1/2 available"),
    (deployment(**ALL | {"replicas": 3}), "1 old replicas still there"),
    (make("apps/v1", "Deployment", {"replicas": 1}), "0/1 ready: no controller has seen it yet"),
    (
        deployment(readyReplicas=0, **condition("ReplicaFailure", "True", "FailedCreate", "webhook says no")),
        "0/2 ready: FailedCreate: webhook says no",
    ),
    (make("apps/v1", "StatefulSet", {"replicas": 3}, {"replicas": 3, "readyReplicas": 2}), "2/3 ready"),
    (
        make(
            "apps/v1",
            "StatefulSet",
            {"replicas": 1},
            {"replicas": 1, "readyReplicas": 1, "currentRevision": "a", "updateRevision": "b"},
        ),
        "0/1 updated",
    ),
    (
        make("apps/v1", "DaemonSet", {}, {"observedGeneration": 1, "desiredNumberScheduled": 3} | SETS),
        "2/3 scheduled",
    ),
    (make("batch/v1", "Job", {"completions": 2}, {"succeeded": 1}), "1/2 succeeded"),
    (make("v1", "Pod", {}, {"phase": "Pending"}), "phase Pending, not ready"),
    (make("v1", "PersistentVolumeClaim", {}, {"phase": "Pending"}), "phase Pending, not bound"),
    (make("v1", "Service", {"type": "LoadBalancer"}), "its load balancer has no address"),
    (make("v1", "Namespace", {}, {"phase": "Terminating"}), "phase Terminating"),
    (make("apiextensions.k8s.io/v1", "CustomResourceDefinition"), "not established"),
    (
        make("apiregistration.k8s.io/v1", "APIService", {}, condition("Available", "False", "MissingEndpoints")),
        "MissingEndpoints",
    ),
    (make("example.test/v1", "Thing", {}, condition("Ready", "False", "Wait", "for it")), "Wait: for it"),
    (make("example.test/v1", "Thing", {}, condition("Reconciling", "True", "Busy")), "Busy"),
    (make("v1", "ConfigMap", deletionTimestamp="2026-01-01T00:00:00Z"), "is being deleted"),
    (
        make("example.test/v1", "Thing", {}, {"observedGeneration": 1} | condition("Ready"), generation=2),
        "its controller has not seen the last change yet",
    ),
]

FAILED = [
    (
        deployment(readyReplicas=1, **condition("Progressing", "False", "ProgressDeadlineExceeded", "too long")),
        "1/2 ready: ProgressDeadlineExceeded: too long",
    ),
    (make("batch/v1", "Job", {}, condition("Failed", "True", "BackoffLimitExceeded")), "BackoffLimitExceeded"),
    (make("v1", "Pod", {}, {"phase": "Failed", "message": "evicted"}), "evicted"),
    (make("v1", "PersistentVolumeClaim", {}, {"phase": "Lost"}), "its volume is lost"),
    (
        make(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            {},
            condition("NamesAccepted", "False", "ListKindConflict", "taken"),
        ),
        "ListKindConflict: taken",
    ),
    (make("example.test/v1", "Thing", {}, condition("Stalled", "True", "Broken")), "Broken"),
]


@pytest.mark.parametrize("obj", CURRENT, ids=lambda obj: obj["kind"])
def test_is_current(obj: Obj) -> None:
    assert assess(obj).status is Status.CURRENT


@pytest.mark.parametrize(("obj", "reason"), UNREADY, ids=lambda value: value if isinstance(value, str) else "")
def test_is_in_progress_for_the_exact_reason(obj: Obj, reason: str) -> None:
    state = assess(obj)
    assert (state.status, state.reason) == (Status.IN_PROGRESS, reason)


@pytest.mark.parametrize(("obj", "reason"), FAILED, ids=lambda value: value if isinstance(value, str) else "")
def test_has_failed_for_the_exact_reason(obj: Obj, reason: str) -> None:
    state = assess(obj)
    assert (state.status, state.reason) == (Status.FAILED, reason)


def test_pods_exist_before_they_are_ready() -> None:
    assert not pods_exist(deployment(updatedReplicas=1))
    assert pods_exist(deployment(updatedReplicas=2, readyReplicas=0))
    assert not pods_exist(make("apps/v1", "Deployment", {"replicas": 1}, {"observedGeneration": 1}, generation=2))
