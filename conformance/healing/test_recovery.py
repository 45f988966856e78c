"""Jobs outlive their pods and their nodes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from conformance.healing.nodes import NODE, SIMULATED, get_node, moment, simulate_node, unreachable_since
from conformance.support.conditions import is_true, summary
from conformance.support.jobs import job, job_spec
from conformance.support.kinds import POD
from conformance.support.pods import decide, running, scripted, states
from conformance.support.queues import Queues
from conformance.support.removal import Removal
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.objects import GroupKind, Object, ObjectRef, mapping, number, text

# Neither is about this component; but the area takes minutes, and is for those who chose to heal.
pytestmark = pytest.mark.needs("node-problem-detector")

JOB_SET = GroupKind("jobset.x-k8s.io", "JobSet")
NAME = "gang"
# What the platform's ResourceFlavor gives to the pods of its queues (manifests/scheduler/tenancy/queues.yaml).
FLAVOR, TOLERATED = "default", timedelta(seconds=30)
# The control plane works in rounds of seconds; a machine that is busy, too. Its own default would be 300 s.
LATE = timedelta(seconds=20)


@pytest.mark.proves("jobset")
def test_a_gang_that_loses_a_pod_starts_again_as_one(workspace: Workspace, queues: Queues) -> None:
    """A killed pod costs one restart of all, and the job succeeds.

    Seen to fail with `maxRestarts: 0` (the JobSet fails).
    """
    queue = queues.queue(cpu="500m")
    workspace.create(_job_set(queue.labels))
    first = wait_for("both pods run", lambda: running(workspace.pods()), lambda pods: len(pods) == 2, show=states)
    decide(workspace, "true")  # how the second run ends
    lost = first[0]
    workspace.delete(POD, text(lost, "metadata", "name"))
    ended = wait_for(
        "the JobSet ends",
        lambda: workspace.get(JOB_SET, NAME),
        lambda found: is_true(found, "Completed") or is_true(found, "Failed"),
        show=summary,
    )
    assert is_true(ended, "Completed"), summary(ended)
    assert number(ended, "status", "restarts") == 1
    old = {text(pod, "metadata", "uid") for pod in first}
    assert not old & {text(pod, "metadata", "uid") for pod in workspace.pods()}, "a pod of the first run is still there"


@pytest.fixture
def lost_node(workspace: Workspace, removal: Removal) -> Iterator[str]:
    """A simulated node, that is about to be lost."""
    yield simulate_node(workspace)
    for pod in workspace.pods():  # nobody on that node ends them
        _force_delete(workspace, text(pod, "metadata", "name"))
    removal.remove(ObjectRef(NODE.group, NODE.kind, "", workspace.name))


def test_a_job_on_a_lost_node_is_whole_again_within_the_tuned_time(
    workspace: Workspace, queues: Queues, lost_node: str
) -> None:
    """Simulated: the node is one by name only. The eviction, its time and the new pod are real.

    A plain Job, whose new pod need not wait for the old one's end. A JobSet begins again when its old Jobs are gone:
    on a lost node, when the Node itself is deleted, which a cloud does for a machine that it no longer has.

    Seen to fail with the tolerations taken out of ResourceFlavor default (evicted after 300 s).
    """
    queue = queues.queue(cpu="500m", flavor=FLAVOR)
    workspace.create(_prefers(lost_node, job(NAME, queue.labels, runs=scripted("sleep infinity"))))
    pod = wait_for(
        "the pod is on the node", lambda: _bound_to(workspace, lost_node), show=lambda _: states(_all(workspace))
    )
    given_up = wait_for(
        "the control plane gives the node up",
        lambda: unreachable_since(workspace.session, lost_node),
        show=lambda _: summary(get_node(workspace.session, lost_node)),
    )
    gone = wait_for(
        "the pod is evicted",
        lambda: text(workspace.get(POD, pod), "metadata", "deletionTimestamp"),
        seconds=(TOLERATED + LATE).total_seconds() + 10,
    )
    grace = timedelta(seconds=number(workspace.get(POD, pod), "metadata", "deletionGracePeriodSeconds"))
    assert given_up is not None  # waited for
    waited = moment(gone) - grace - given_up
    assert TOLERATED - timedelta(seconds=2) <= waited <= TOLERATED + LATE, waited
    wait_for("a new pod runs elsewhere", lambda: running(workspace.pods()), show=lambda _: states(_all(workspace)))


def _job_set(labels: dict[str, str]) -> Object:
    spec = {
        "failurePolicy": {"maxRestarts": 3},
        "replicatedJobs": [{"name": "workers", "replicas": 1, "template": {"spec": _gang()}}],
    }
    metadata = {"name": NAME, "labels": labels}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": JOB_SET.kind, "metadata": metadata, "spec": spec}


def _gang() -> dict[str, object]:
    return job_spec(2, scripted("sleep infinity"))


def _prefers(node: str, obj: Object) -> Object:
    """Return a Job whose pods go to a node first, and to another where it is not to be had."""
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
    preferred = [{"weight": 100, "preference": term}]
    placed = {
        "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}},
        "tolerations": [{"key": SIMULATED, "operator": "Equal", "value": node, "effect": "NoSchedule"}],
    }
    template = mapping(obj, "spec", "template")
    changed = {**template, "spec": {**mapping(template, "spec"), **placed}}
    # An evicted pod counts as a failed one.
    return {**obj, "spec": {**mapping(obj, "spec"), "template": changed, "backoffLimit": 3}}


def _all(workspace: Workspace) -> list[Object]:
    return list(workspace.pods())


def _bound_to(workspace: Workspace, node: str) -> str:
    """Return the name of the pod on that node; empty where there is none."""
    pods = [pod for pod in workspace.pods() if text(pod, "spec", "nodeName") == node]
    return text(pods[0], "metadata", "name") if pods else ""


def _force_delete(workspace: Workspace, pod: str) -> None:
    path = f"/api/v1/namespaces/{workspace.name}/pods/{pod}"
    workspace.session.transport.send(
        "DELETE", path, body={"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
    )
