"""A PyTorchJob of Kubeflow's first training API: through its queue, and one job over all its pods."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from conformance.support.ended import ended_well
from conformance.support.images import image
from conformance.support.kinds import WORKLOAD
from conformance.support.pods import container, pod_spec
from conformance.support.queues import Queues
from conformance.support.workloads import Share, admitted, wait_until
from conformance.support.workspace import Workspace
from modelyard.objects import GroupKind, Object, text

pytestmark = [pytest.mark.needs("training-operator"), pytest.mark.proves("training-operator")]

JOB = GroupKind("kubeflow.org", "PyTorchJob")
NAME = "first"
# What each rank adds is its number and one, so that the sum tells whose numbers came together.
PROGRAM = """
import json, torch, torch.distributed as dist
dist.init_process_group("gloo")
number = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(number)
print("RANK", json.dumps({"rank": dist.get_rank(), "world_size": dist.get_world_size(), "sum": number.item()}))
dist.destroy_process_group()
"""


def test_a_pytorchjob_is_admitted_whole_and_its_ranks_meet(workspace: Workspace, queues: Queues) -> None:
    """A master and a worker: both are counted, and both see a world of two.

    Seen to fail with `kubeflow.org/pytorchjob` taken out of Kueue's integrations (it runs without being admitted), and
    with Deployment training-operator scaled to 0 (its webhook does not answer).
    """
    queue = queues.queue(cpu="500m")
    workspace.create(_pytorch_job(queue.labels))
    wait_until(workspace, NAME, "Admitted")
    assert admitted(workspace.list(WORKLOAD)) == Share(2, Decimal("0.4"))
    ended_well(workspace, JOB, NAME, "Succeeded")
    said = [_said(workspace, pod) for pod in workspace.pods()]
    assert sorted(said, key=str) == [{"rank": rank, "world_size": 2, "sum": 3.0} for rank in (0, 1)]


def _said(workspace: Workspace, pod: Object) -> Object:
    log = workspace.logs(text(pod, "metadata", "name"))
    lines = [line.removeprefix("RANK ") for line in log.splitlines() if line.startswith("RANK {")]
    assert len(lines) == 1, f"{text(pod, 'metadata', 'name')} said: {log[-500:]}"
    said: Object = json.loads(lines[0])
    return said


def _pytorch_job(labels: dict[str, str]) -> Object:
    torch = image("trainer", "docker.io/pytorch/pytorch")
    environment = [{"name": "OMP_NUM_THREADS", "value": "1"}]
    runs = container(["python3", "-c", PROGRAM], image=torch, cpu="200m", name="pytorch", env=environment)
    replica = {"replicas": 1, "restartPolicy": "OnFailure", "template": {"spec": pod_spec(runs)}}
    # Kept, so that their logs can be read after the end.
    spec = {"runPolicy": {"cleanPodPolicy": "None"}, "pytorchReplicaSpecs": {"Master": replica, "Worker": replica}}
    metadata = {"name": NAME, "labels": labels}
    return {"apiVersion": "kubeflow.org/v1", "kind": JOB.kind, "metadata": metadata, "spec": spec}
