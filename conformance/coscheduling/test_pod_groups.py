"""The second scheduler binds all pods of a PodGroup or none. The nodes are simulated, the scheduler is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

import pytest

from conformance.support.conditions import condition, summary
from conformance.support.jobs import job
from conformance.support.kinds import WORKLOAD
from conformance.support.pods import occupying, pod_spec, running, sleeper, states
from conformance.support.queues import Queues
from conformance.support.removal import Removal
from conformance.support.simulated import LASTING, TOLERATION, SimulatedNodes, nodes_of
from conformance.support.waiting import wait_for
from conformance.support.workloads import Share, admitted, wait_until
from conformance.support.workspace import LABEL, Workspace
from modelyard.objects import Object, text

pytestmark = [pytest.mark.needs("coscheduling", "kwok"), pytest.mark.proves("coscheduling", "kwok", simulated=True)]

CPU, PODS = 4, 3  # a pod takes a node
GROUP = "gang"


@pytest.fixture
def nodes(workspace: Workspace, removal: Removal) -> Iterator[SimulatedNodes]:
    """One node fewer than the gang needs."""
    nodes = SimulatedNodes(workspace)
    try:
        for index in range(PODS - 1):
            nodes.add(str(index), {}, cpu=str(CPU))
        nodes.wait_until_ready()
        yield nodes
    finally:
        nodes.remove(removal)


@pytest.mark.parametrize("queued", [False, True], ids=["past-the-queue", "through-the-queue"])
def test_a_gang_is_bound_when_all_of_it_fits_and_not_before(
    workspace: Workspace, queues: Queues, nodes: SimulatedNodes, queued: bool
) -> None:
    """Two nodes are free for three pods, which ask for a whole one each; the third node lets all of them run.

    Kueue admits the gang by its quota, which knows nothing of nodes, and leaves the rest to the scheduler.

    Simulated: the nodes and what runs on them. Seen to fail with `schedulerName` left out: two of the pods are bound.
    """
    labels = queues.queue(cpu=str(PODS * CPU)).labels if queued else {}
    workspace.create(
        {
            "apiVersion": "scheduling.x-k8s.io/v1alpha1",
            "kind": "PodGroup",
            "metadata": {"name": GROUP},
            # Longer than a pod that found no room stays away (10 s), or they wait for each other in turns.
            "spec": {"minMember": PODS, "scheduleTimeoutSeconds": 30},
        }
    )
    workspace.create(_gang(workspace, labels))
    if queued:
        wait_until(workspace, GROUP, "Admitted")
        assert admitted(workspace.list(WORKLOAD)) == Share(PODS, Decimal(PODS * CPU))
    wait_for("the scheduler has found no room", workspace.pods, _all_refused, show=_refusals)
    assert occupying(workspace.pods()) == []

    nodes.add("last", {}, cpu=str(CPU))
    pods = wait_for("the gang runs", lambda: running(workspace.pods()), lambda seen: len(seen) == PODS, show=states)
    assert len(nodes_of(workspace, pods)) == PODS


def _gang(workspace: Workspace, labels: dict[str, str]) -> dict[str, object]:
    made = job(GROUP, labels, pods=PODS)
    spec = pod_spec(sleeper(cpu=str(CPU))) | {
        "schedulerName": "coscheduling",
        "nodeSelector": {LABEL: workspace.name},
        "tolerations": [TOLERATION],
    }
    template = {
        "metadata": {"labels": {"scheduling.x-k8s.io/pod-group": GROUP}, "annotations": LASTING},
        "spec": spec,
    }
    return made | {"spec": {"parallelism": PODS, "completions": PODS, "backoffLimit": 0, "template": template}}


def _all_refused(pods: Sequence[Object]) -> bool:
    return len(pods) == PODS and all(text(condition(pod, "PodScheduled"), "status") == "False" for pod in pods)


def _refusals(pods: Sequence[Object]) -> str:
    return "; ".join(f"{text(pod, 'metadata', 'name')}: {summary(pod)}" for pod in pods) or "no pod"
