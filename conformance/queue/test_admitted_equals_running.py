"""For every kind of job: what Kueue admitted is what runs, to the pod and to the CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

import pytest

from conformance.support import job_kinds as kinds
from conformance.support.history import pod_history
from conformance.support.jobs import job
from conformance.support.kinds import WORKLOAD
from conformance.support.pods import cpu_request, occupying, running, sleeper, states
from conformance.support.queues import Queues
from conformance.support.waiting import holds_for, wait_for
from conformance.support.workloads import Share, admitted, table, wait_until_held
from conformance.support.workspace import Workspace
from modelyard.quantity import parse

Labels = Mapping[str, str]
# What starts too much starts right after: a controller that makes pods beside those that were admitted does not wait.
SECONDS = 5.0
Make = Callable[[Labels, str], Mapping[str, object]]


def _plain(labels: Labels, _: str) -> dict[str, object]:
    return job("job", labels, pods=3, runs=sleeper(cpu="100m"))


def _wrapped(labels: Labels, namespace: str) -> dict[str, object]:
    inner = job("inner", {}, pods=2, runs=sleeper(cpu="100m"))
    return kinds.app_wrapper("wrapper", labels, {**inner, "metadata": {"name": "inner", "namespace": namespace}})


def _ray_job(labels: Labels, _: str) -> dict[str, object]:
    return kinds.ray_job("ray-job", labels, head="300m", worker="200m", submitter="100m")


KINDS: dict[str, tuple[Make, Share]] = {
    "Job": (_plain, Share(3, Decimal("0.3"))),
    "JobSet": (
        lambda labels, _: kinds.job_set("set", labels, {"leader": 1, "workers": 2}, cpu="100m"),
        Share(3, Decimal("0.3")),
    ),
    "LeaderWorkerSet": (
        lambda labels, _: kinds.leader_worker_set("group", labels, size=3, cpu="100m"),
        Share(3, Decimal("0.3")),
    ),
    "TrainJob": (
        lambda labels, _: kinds.train_job("train", labels, nodes=3, cpu="100m"),
        Share(3, Decimal("0.3")),
    ),
    "AppWrapper": (_wrapped, Share(2, Decimal("0.2"))),
    "RayCluster": (
        lambda labels, _: kinds.ray_cluster("ray", labels, head="300m", worker="200m"),
        Share(2, Decimal("0.5")),
    ),
    "RayJob": (_ray_job, Share(3, Decimal("0.6"))),
    "InferenceService": (
        lambda labels, _: kinds.inference_service("served", labels, replicas=2, cpu="100m"),
        Share(2, Decimal("0.2")),
    ),
}


@pytest.mark.proves("kueue", "appwrapper", "jobset", "lws", "trainer", "kuberay", "kserve")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_admitted_is_what_runs(workspace: Workspace, queues: Queues, kind: str) -> None:
    """Both are the same, and stay the same: what starts too much, or ends, afterwards is seen.

    Seen to fail, for each kind, with the kinds taken out of Kueue's integrations: pods run, nothing was admitted.
    """
    make, expected = KINDS[kind]
    queue = queues.queue(cpu="1")
    workspace.create(make(queue.labels, workspace.name))
    wait_for("all pods run", lambda: running(workspace.pods()), lambda pods: len(pods) == expected.pods, show=states)
    wait_for("admitted equals running", lambda: _both(workspace), lambda both: both == (expected, expected))
    holds_for(
        "admitted equals running", lambda: _both(workspace), lambda both: both == (expected, expected), seconds=SECONDS
    )
    assert parse(queues.reserved_cpu(queue)) == expected.cpu, table(workspace.list(WORKLOAD))


def test_a_train_job_counts_with_all_its_nodes(workspace: Workspace, queues: Queues) -> None:
    """Nine nodes of 100m do not fit into 500m; Kueue 0.15 counted them as one.

    Seen to fail with the kind taken out of Kueue's integrations.
    """
    queue = queues.queue(cpu="500m")
    with pod_history(workspace) as history:
        workspace.create(kinds.train_job("wide", queue.labels, nodes=9, cpu="100m"))
        wait_until_held(workspace, "wide")
        assert history.named("") == []


def _both(workspace: Workspace) -> tuple[Share, Share]:
    pods = occupying(workspace.pods())
    really = Share(len(pods), sum(map(cpu_request, pods), Decimal(0)))
    return admitted(workspace.list(WORKLOAD)), really
