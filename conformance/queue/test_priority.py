"""What is more urgent takes the place of what is less."""

from __future__ import annotations

import pytest

from conformance.support.conditions import is_true, summary
from conformance.support.jobs import job
from conformance.support.kinds import JOB
from conformance.support.pods import decide, running, scripted, states, wait_until_gone
from conformance.support.queues import Queues
from conformance.support.waiting import wait_for
from conformance.support.workloads import wait_until
from conformance.support.workspace import Workspace

pytestmark = pytest.mark.proves("kueue")


def test_an_urgent_job_evicts_another_which_comes_back_and_finishes(workspace: Workspace, queues: Queues) -> None:
    """Seen to fail with the ClusterQueues' preemption set to Never."""
    queue = queues.queue(cpu="100m")
    low, high = queues.priority(1), queues.priority(100)
    workspace.create(job("victim", queue.labels | low, pods=2, runs=scripted("sleep 3600")))
    _both_run(workspace, "victim")
    decide(workspace, "true")  # its second run ends by itself

    workspace.create(job("urgent", queue.labels | high, pods=2))
    evicted = wait_until(workspace, "victim", "Preempted")
    assert is_true(evicted, "Evicted"), summary(evicted)
    _both_run(workspace, "urgent")
    wait_until_gone(workspace, "victim")

    workspace.delete(JOB, "urgent")
    wait_for(
        "the victim is complete",
        lambda: workspace.get(JOB, "victim"),
        lambda found: is_true(found, "Complete"),
        show=summary,
    )


def _both_run(workspace: Workspace, name: str) -> None:
    wait_for(
        f"{name} runs", lambda: running(workspace.pods(f"job-name={name}")), lambda pods: len(pods) == 2, show=states
    )
