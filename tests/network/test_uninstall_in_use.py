"""Components go while somebody uses what they made: pods with addresses, nodes that were bought, queues with jobs.

A cluster of its own, so it is left to `make test-full`. Its nodes on demand are simulated, Karpenter and Kueue are not.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from network_helpers import INSTALL_SECONDS, Cluster

from conformance.support import nics as example
from conformance.support.conditions import is_true
from conformance.support.kinds import JOB, NODE, POD, WORKLOAD
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace, open_workspace
from modelyard.cluster import Session, connect
from modelyard.local.state.layout import layout
from modelyard.objects import Object, dig, text

pytestmark = [pytest.mark.long, pytest.mark.cluster]
PAUSE = "registry.k8s.io/pause:3.10.1"  # on every node
TEAM, QUEUE = "team-a", "simulated-gpu"
BOUGHT = "karpenter.sh/nodepool"


@pytest.fixture(scope="module")
def platform() -> Iterator[Cluster]:
    cluster = Cluster("removal")
    try:
        cluster("local", "up", "--nics", "2", seconds=INSTALL_SECONDS)
        cluster("install", "--component", "whereabouts", "--component", "karpenter", seconds=INSTALL_SECONDS)
        yield cluster
    finally:
        cluster("local", "down", "--delete", check=False)


@pytest.fixture
def session(platform: Cluster) -> Session:
    return connect(layout(platform.name).kubeconfig)


@pytest.fixture
def workspace(session: Session) -> Iterator[Workspace]:
    workspace = open_workspace(session, area="network")
    yield workspace
    session.delete(workspace.ref)


@pytest.fixture
def team(session: Session) -> Iterator[Workspace]:
    team = Workspace(session, TEAM)
    yield team
    team.delete(JOB, "gang")


def test_whereabouts_stays_until_no_pod_has_an_address_of_it(platform: Cluster, workspace: Workspace) -> None:
    """Without the refusal the pod stays `Terminating` for ever: nobody takes its addresses back."""
    for each in example.example("nics"):
        if text(each, "kind") == example.ATTACHMENT.kind:
            workspace.apply(each)
    workspace.create(_pod("attached"))
    wait_for("the pod runs", lambda: workspace.get(POD, "attached"), _runs)
    for words in ((), ("--delete-data",)):
        refused = platform("uninstall", "--yes", "--component", "whereabouts", *words, check=False)
        assert refused.returncode != 0
        assert f"pods that cannot end without it: {workspace.name}/attached; nothing was changed" in refused.stderr
    workspace.delete(POD, "attached")
    wait_for("the pod is gone", workspace.pods, lambda pods: not pods)
    platform("uninstall", "--yes", "--component", "whereabouts")  # its empty pools are nobody's data
    assert workspace.session.list(example.POOL) is None
    assert workspace.list(example.ATTACHMENT), "those are multus's"


def test_karpenter_stays_while_jobs_run_on_its_nodes_and_takes_the_nodes_along(
    platform: Cluster, team: Workspace, session: Session
) -> None:
    """Without their order the nodes stay for ever: their finalizer is Karpenter's. The nodes are simulated."""
    _run_gang(team, session)
    refused = platform("uninstall", "--yes", "--component", "karpenter", check=False)
    assert refused.returncode != 0
    assert "is in use: ClusterQueue simulated-gpu holds Workload team-a/job-gang-" in refused.stderr
    assert len(_bought(session)) == 2
    team.delete(JOB, "gang")
    wait_for("no job holds the queue", lambda: team.list(WORKLOAD), lambda found: not found)
    platform("uninstall", "--yes", "--component", "karpenter")
    assert _bought(session) == []


def test_told_to_karpenter_goes_from_under_a_job_which_is_suspended(
    platform: Cluster, team: Workspace, session: Session
) -> None:
    platform("install", "--component", "karpenter", seconds=INSTALL_SECONDS)
    _run_gang(team, session)
    done = platform("uninstall", "--yes", "--delete-data", "--component", "karpenter")
    assert "stopped those who use what goes: ClusterQueue simulated-gpu" in done.stdout + done.stderr
    assert _bought(session) == []
    assert dig(team.get(JOB, "gang"), "spec", "suspend") is True


def _run_gang(team: Workspace, session: Session) -> None:
    resources = {"requests": {"cpu": "8", "memory": "8Gi", "nvidia.com/gpu": "8"}, "limits": {"nvidia.com/gpu": "8"}}
    template = {
        # How long the simulated pods take: manifests/cluster/kwok/pod-complete.yaml.
        "metadata": {"annotations": {"pod-complete.stage.kwok.x-k8s.io/delay": "24h"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": PAUSE, "resources": resources}]},
    }
    metadata = {"name": "gang", "labels": {"kueue.x-k8s.io/queue-name": QUEUE}}
    spec = {"parallelism": 2, "completions": 2, "template": template}
    team.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
    wait_for("the gang runs", lambda: team.pods("job-name=gang"), lambda pods: len(pods) == 2 and all(map(_runs, pods)))
    assert all(is_true(each, "Admitted") for each in team.list(WORKLOAD))
    assert len(_bought(session)) == 2


def _bought(session: Session) -> list[str]:
    listing = session.list(NODE, label_selector=BOUGHT)
    assert listing is not None
    return [text(node, "metadata", "name") for node in listing.items]


def _pod(name: str) -> Object:
    metadata = {"name": name, "annotations": {example.NETWORKS: "net1,net2"}}
    containers = [{"name": "main", "image": PAUSE, "imagePullPolicy": "IfNotPresent"}]
    spec = {"terminationGracePeriodSeconds": 1, "containers": containers}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _runs(pod: Object) -> bool:
    return text(pod, "status", "phase") == "Running"
