"""FSDP2 on two pods: one model, a falling loss, and a fault that costs no more than the steps since a checkpoint."""

from __future__ import annotations

import pytest

from conformance.support import training
from conformance.support.ended import SECONDS
from conformance.support.kinds import POD
from conformance.support.queues import Queues
from conformance.support.training import Event, named
from conformance.support.volumes import Volumes
from conformance.support.waiting import wait_for
from conformance.support.workloads import wait_until
from conformance.support.workspace import Workspace

pytestmark = pytest.mark.proves("trainer")

STEPS, EVERY = 80, 10
# The first life has minutes to be seen and ended in; the second need not be slow.
FIRST_PACE, SECOND_PACE = "2", "0"  # seconds a step


def test_two_pods_train_one_model_and_a_lost_pod_resumes_from_the_checkpoint(
    workspace: Workspace, queues: Queues, volumes: Volumes
) -> None:
    """Seen to fail with the runtime's `mlPolicy.torch` removed (each pod is rank 0 of 1, and the job succeeds), and
    with a program that does not look for a checkpoint (the second life begins at step 0).
    """
    queue = queues.queue(cpu="600m")
    volumes.claim(training.NAME)
    training.pace(workspace, FIRST_PACE)
    training.start(workspace, queue.labels, STEPS=str(STEPS), CHECKPOINT_EVERY=str(EVERY))
    wait_until(workspace, training.NAME, "Admitted")
    before = wait_for("a checkpoint", lambda: training.events(workspace, 0), _after_a_checkpoint, seconds=SECONDS)
    _sees_two(before, training.events(workspace, 1))
    lost = training.pod_of_rank(workspace, 1)
    training.pace(workspace, SECOND_PACE)
    workspace.delete(POD, lost)

    training.finished(workspace)
    assert training.pod_of_rank(workspace, 1) != lost
    after = training.events(workspace, 0)
    _sees_two(after, training.events(workspace, 1))
    _resumed(before, after)
    _learned(before, after)


def _after_a_checkpoint(found: list[Event]) -> bool:
    checkpoints = named(found, "checkpoint")
    # In the middle between two, so that there are steps to be lost.
    return bool(checkpoints) and len(named(found, "step")) >= _number(checkpoints[-1], "step") + 2


def _sees_two(first: list[Event], second: list[Event]) -> None:
    """See that the two ranks are of one job, and that each holds a part of the model."""
    starts = [*named(first, "start"), *named(second, "start")]
    assert sorted(_number(each, "rank") for each in starts) == [0, 1], starts
    assert [each["world_size"] for each in starts] == [2, 2], starts
    parts = [str(each["sharded"]).split("/") for each in starts]
    assert {whole for _, whole in parts} == {str(sum(int(part) for part, _ in parts))}, parts


def _resumed(before: list[Event], after: list[Event]) -> None:
    [start] = named(after, "start")
    resumed_from = _number(start, "from_step")
    assert resumed_from >= _number(named(before, "checkpoint")[-1], "step") > 0, start
    assert resumed_from % EVERY == 0
    assert _number(named(after, "step")[0], "step") == resumed_from + 1
    assert _number(named(after, "step")[-1], "step") == STEPS


def _learned(before: list[Event], after: list[Event]) -> None:
    losses = [float(str(each["loss"])) for each in [*named(before, "step"), *named(after, "step")]]
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5]), losses
    # Nothing was forgotten in the fault: the second life begins far below the first.
    assert float(str(named(after, "step")[0]["loss"])) < 0.5 * losses[0], losses


def _number(event: Event, field: str) -> int:
    return int(str(event[field]))
