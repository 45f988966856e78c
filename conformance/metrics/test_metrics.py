"""Resource metrics: there to be read, and to scale by."""

from __future__ import annotations

from decimal import Decimal

import pytest

from conformance.support.jobs import job
from conformance.support.pods import container, pod_spec, running, states
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.objects import GroupKind, Object, dig, mappings, number, text
from modelyard.quantity import parse

pytestmark = pytest.mark.proves("metrics-server")

AUTOSCALER = GroupKind("autoscaling", "HorizontalPodAutoscaler")
NODE_METRICS = GroupKind("metrics.k8s.io", "NodeMetrics")
POD_METRICS = GroupKind("metrics.k8s.io", "PodMetrics")
BUSY, IDLE = "while :; do :; done", "exec sleep infinity"


def test_top_answers_for_nodes_and_pods(workspace: Workspace) -> None:
    """What `kubectl top nodes` and `kubectl top pods` ask for.

    Seen to fail with Deployment metrics-server scaled to 0 (nothing answers for the API group).
    """
    workspace.create(job("busy", {}, runs=_runs(BUSY)))
    [pod] = wait_for("a pod runs", lambda: running(workspace.pods()), show=states)
    used = wait_for("the pod's metrics", lambda: _pod_cpu(workspace))
    assert used > Decimal("0.01"), "a pod that burns CPU uses none"
    measured = {text(each, "metadata", "name"): _used(each) for each in _nodes(workspace)}
    assert measured[text(pod, "spec", "nodeName")] > used / 2, measured


def test_an_autoscaler_on_cpu_scales_up_and_back(workspace: Workspace) -> None:
    """Its pods burn CPU until there are two of them, and are idle from then on: however long it takes to be measured.

    Seen to fail with Deployment metrics-server scaled to 0 (the autoscaler never learns of any use).
    """
    workspace.apply(_deployment("burning", BUSY))
    workspace.create(_autoscaler("burning"))
    _wait_for_pods(workspace, "one pod runs", 1)
    _wait_for_pods(workspace, "it scales up", 2)
    workspace.apply(_deployment("burning", IDLE))
    _wait_for_pods(workspace, "it scales back", 1)
    scaler = workspace.get(AUTOSCALER, "burning")
    assert number(scaler, "status", "desiredReplicas") == 1, scaler.get("status")


def _wait_for_pods(workspace: Workspace, what: str, pods: int) -> None:
    wait_for(what, lambda: running(workspace.pods()), lambda found: len(found) == pods, show=states)


def _nodes(workspace: Workspace) -> tuple[Object, ...]:
    listing = workspace.session.list(NODE_METRICS)
    assert listing is not None, "the cluster has no metrics API"
    return listing.items


def _pod_cpu(workspace: Workspace) -> Decimal:
    containers = [each for pod in workspace.list(POD_METRICS) for each in mappings(pod, "containers")]
    return sum(map(_used, containers), Decimal(0))


def _used(metrics: Object) -> Decimal:
    return parse(dig(metrics, "usage", "cpu")) or Decimal(0)


def _runs(script: str) -> dict[str, object]:
    return container(["bash", "-c", script], cpu="100m", limit="200m")


def _deployment(name: str, script: str) -> Object:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod_spec(_runs(script), restart="Always")}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def _autoscaler(name: str) -> Object:
    at_once = {"stabilizationWindowSeconds": 0}
    half = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
        "minReplicas": 1,
        "maxReplicas": 2,
        "metrics": [{"type": "Resource", "resource": half}],
        "behavior": {"scaleUp": at_once, "scaleDown": at_once},
    }
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": name}, "spec": spec}
