"""The training example in a test's own namespace: started, and read back line by line."""

from __future__ import annotations

import json
from collections.abc import Mapping

from conformance.support.ended import ended_well
from conformance.support.examples import create_example
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.objects import GroupKind, Object, mappings, text

TRAIN_JOB = GroupKind("trainer.kubeflow.org", "TrainJob")
NAME = "training"  # of the example's TrainJob and of its claim
PODS = f"jobset.sigs.k8s.io/jobset-name={NAME}"
PACE = "pace"  # the ConfigMap that says how long a step takes at least

Event = Mapping[str, object]


def start(workspace: Workspace, labels: dict[str, str], **settings: str) -> None:
    """Create the example's TrainJob and its program.

    Args:
        workspace: where; it has a claim called `training`.
        labels: of the queue.
        settings: environment variables of examples/training/train.py.
    """
    variables = {"OUTPUT": "/data", "OMP_NUM_THREADS": "1", **settings}
    paced = {"configMapKeyRef": {"name": PACE, "key": "seconds", "optional": True}}
    env = [
        *({"name": name, "value": value} for name, value in variables.items()),
        {"name": "STEP_SECONDS", "valueFrom": paced},
    ]
    create_example(workspace, "training", labels, TrainJob={"spec": {"trainer": {"env": env}}})


def pace(workspace: Workspace, seconds: str) -> None:
    """Set the least time of a step for the containers that start from now on; until it is set, there is none."""
    workspace.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": PACE}, "data": {"seconds": seconds}})


def restart(workspace: Workspace, labels: dict[str, str], **settings: str) -> None:
    """Run the example again, on the volume that an earlier run has left its checkpoints on."""
    workspace.delete(TRAIN_JOB, NAME)
    wait_for("the earlier run's pods are gone", lambda: workspace.pods(PODS), lambda pods: not pods)
    wait_for("the earlier TrainJob is gone", lambda: workspace.get(TRAIN_JOB, NAME), lambda job: not job)
    workspace.delete(GroupKind("", "ConfigMap"), NAME)
    start(workspace, labels, **settings)


def finished(workspace: Workspace) -> Object:
    """Wait until the TrainJob has ended, see that it ended well, and return it."""
    return ended_well(workspace, TRAIN_JOB, NAME, "Complete")


def pod_of_rank(workspace: Workspace, rank: int) -> str:
    """Return the name of the pod that is this rank's and is not on its way out; empty where there is none."""
    pods = workspace.pods(f"{PODS},batch.kubernetes.io/job-completion-index={rank}")
    names = [text(pod, "metadata", "name") for pod in pods if not text(pod, "metadata", "deletionTimestamp")]
    return names[-1] if names else ""


def events(workspace: Workspace, rank: int) -> list[Event]:
    """Return what a rank's container has said of itself so far."""
    name = pod_of_rank(workspace, rank)
    return parse(workspace.logs(name)) if name else []


def parse(log: str) -> list[Event]:
    """Return the training program's lines of a log, as they are meant."""
    return [json.loads(line.removeprefix("TRAIN ")) for line in log.splitlines() if line.startswith("TRAIN {")]


def named(found: list[Event], event: str) -> list[Event]:
    """Return the events of one name, in order."""
    return [each for each in found if each["event"] == event]


def restarts(workspace: Workspace) -> int:
    """Return how often containers of the job's pods were started again in place."""
    statuses = [each for pod in workspace.pods(PODS) for each in mappings(pod, "status", "containerStatuses")]
    return sum(count for each in statuses if isinstance(count := each.get("restartCount"), int))
