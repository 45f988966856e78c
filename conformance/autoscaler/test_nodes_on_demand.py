"""Karpenter buys nodes for what the queue admits, and gives them back. The nodes are simulated, Karpenter is not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.support.history import pod_history
from conformance.support.jobs import job
from conformance.support.kinds import JOB, NODE_CLAIM
from conformance.support.pods import container, running, states
from conformance.support.queues import Queues
from conformance.support.simulated import GPU, LASTING, node_ref, nodes_of
from conformance.support.waiting import wait_for
from conformance.support.workloads import wait_until, wait_until_held
from conformance.support.workspace import Workspace
from modelyard.objects import Object, ObjectRef, labels_of, mappings, text

pytestmark = [pytest.mark.needs("karpenter"), pytest.mark.proves("karpenter", simulated=True)]

FLAVOR = "simulated-gpu"  # of the component karpenter, as the pool
POOL_LABEL = "karpenter.sh/nodepool"


def test_an_admitted_gang_gets_simulated_nodes_which_go_when_it_ends(workspace: Workspace, queues: Queues) -> None:
    """A gang of two whole nodes waits for its quota without a pod; once admitted, nodes come for it, and go after it.

    Simulated: the nodes and what runs on them. Seen to fail with Deployment karpenter scaled to 0, and with
    `consolidateAfter: Never` in NodePool simulated-gpu (its nodes stay).
    """
    queue = queues.queue(cpu="100", gpus="16", flavor=FLAVOR)
    with pod_history(workspace) as history:
        workspace.create(_gang("holder", queue.labels, pods=1))
        bought = nodes_of(workspace, _runs(workspace, "holder", pods=1))
        workspace.create(_gang("gang", queue.labels, pods=2))
        wait_until_held(workspace, "gang")
        assert history.named("gang-") == [], "a pod of what the queue holds back would buy a node"

    workspace.delete(JOB, "holder")
    wait_until(workspace, "gang", "Admitted")
    nodes = nodes_of(workspace, _runs(workspace, "gang", pods=2))
    assert len(nodes) == 2, "each of the pods asks for all GPUs of a node"
    bought += nodes
    assert {labels_of(node).get(POOL_LABEL) for node in bought} == {FLAVOR}

    workspace.delete(JOB, "gang")
    going = {ref for node in bought for ref in (_claim(node), node_ref(text(node, "metadata", "name")))}
    wait_for(
        "the nodes are given back",
        lambda: sorted(str(ref) for ref in going if workspace.session.get(ref) is not None),
        lambda left: not left,
    )


def _gang(name: str, labels: dict[str, str], *, pods: int) -> dict[str, object]:
    whole_node = container(None, cpu="8") | {"resources": {"requests": {"cpu": "8", GPU: "8"}, "limits": {GPU: "8"}}}
    return job(name, labels, pods=pods, runs=whole_node, annotations=LASTING)


def _runs(workspace: Workspace, name: str, *, pods: int) -> Sequence[Object]:
    return wait_for(
        f"{name} runs",
        lambda: running(workspace.pods(f"job-name={name}")),
        lambda found: len(found) == pods,
        show=states,
    )


def _claim(node: Object) -> ObjectRef:
    [owner] = [each for each in mappings(node, "metadata", "ownerReferences") if text(each, "kind") == NODE_CLAIM.kind]
    return ObjectRef(NODE_CLAIM.group, NODE_CLAIM.kind, "", text(owner, "name"))
