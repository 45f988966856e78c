"""A TrainJob of an MPI runtime: mpirun reaches every pod by ssh, and their ranks add up arrays."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from conformance.support.ended import ended_well
from conformance.support.kinds import WORKLOAD
from conformance.support.queues import Queues
from conformance.support.training import TRAIN_JOB
from conformance.support.workloads import Share, admitted, wait_until
from conformance.support.workspace import Workspace
from modelyard.objects import Object, text

pytestmark = [pytest.mark.needs("mpi-runtime"), pytest.mark.proves("mpi-runtime")]

NAME = "ranks"
LENGTH = 100_000
# Rank r adds r+1 to each of its numbers' indexes: a sum of one rank alone, or of one rank twice, is another.
PROGRAM = f"""
import json, socket, numpy
from mpi4py import MPI
world = MPI.COMM_WORLD
mine = numpy.arange({LENGTH}, dtype="d") + world.rank + 1
total = numpy.empty_like(mine)
world.Allreduce(mine, total)
said = {{"rank": world.rank, "size": world.size, "host": socket.gethostname(), "first": total[0], "last": total[-1]}}
print("RANK", json.dumps(said), flush=True)
"""


def test_mpirun_starts_a_rank_in_each_pod_and_their_arrays_are_added(workspace: Workspace, queues: Queues) -> None:
    """Two nodes: the launcher is one of them. Both are counted by the queue, and both take part in the sum.

    Seen to fail with `mpirun` left out of the command, with which the job succeeds too: a world of one rank.
    """
    queue = queues.queue(cpu="500m")
    workspace.create(_train_job(queue.labels))
    wait_until(workspace, NAME, "Admitted")
    assert admitted(workspace.list(WORKLOAD)) == Share(2, Decimal("0.4"))
    ended_well(workspace, TRAIN_JOB, NAME, "Complete")
    said = _said(workspace)
    assert [(each["rank"], each["size"]) for each in said] == [(0, 2), (1, 2)]
    assert {str(each["host"]) for each in said} == {f"{NAME}-launcher-0-0", f"{NAME}-node-0-0"}
    assert {(each["first"], each["last"]) for each in said} == {(3.0, 2.0 * (LENGTH - 1) + 3.0)}


def _said(workspace: Workspace) -> list[Object]:
    """Return what the ranks have said, in their order; mpirun brings it all to the launcher."""
    launchers = workspace.pods("jobset.sigs.k8s.io/replicatedjob-name=launcher")
    logs = [workspace.logs(text(pod, "metadata", "name")) for pod in launchers]
    lines = [line for log in logs for line in log.splitlines() if line.startswith("RANK {")]
    said: list[Object] = [json.loads(line.removeprefix("RANK ")) for line in lines]
    return sorted(said, key=lambda each: str(each["rank"]))


def _train_job(labels: dict[str, str]) -> Object:
    trainer = {
        "numNodes": 2,
        "command": ["mpirun", "python3", "-c", PROGRAM],
        "resourcesPerNode": {"requests": {"cpu": "200m", "memory": "128Mi"}},
    }
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": TRAIN_JOB.kind,
        "metadata": {"name": NAME, "labels": labels},
        "spec": {"runtimeRef": {"name": "mpi-distributed"}, "trainer": trainer},
    }
