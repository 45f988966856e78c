"""A gang gets all of its pods or none."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.support.conditions import condition
from conformance.support.history import pod_history
from conformance.support.jobs import job
from conformance.support.kinds import JOB
from conformance.support.pods import running, states
from conformance.support.queues import Queues
from conformance.support.waiting import wait_for
from conformance.support.workloads import wait_until, wait_until_held
from conformance.support.workspace import Workspace
from modelyard.objects import Object, text

pytestmark = pytest.mark.proves("kueue")


def test_a_gang_that_does_not_fit_starts_no_pod_until_quota_is_freed(workspace: Workspace, queues: Queues) -> None:
    """Two of its three pods would fit beside the job that runs; none may start before all three can.

    Seen to fail with Jobs taken out of Kueue's integrations: the gang's pods start beside the holder's.
    """
    queue = queues.queue(cpu="200m")
    with pod_history(workspace) as history:
        workspace.create(job("holder", queue.labels, pods=2))
        wait_for("holder runs", lambda: running(_pods(workspace, "holder")), lambda pods: len(pods) == 2, show=states)
        workspace.create(job("gang", queue.labels, pods=3))
        wait_until_held(workspace, "gang")
        assert history.named("gang-") == []

        workspace.delete(JOB, "holder")
        gang = wait_for(
            "the gang runs", lambda: running(_pods(workspace, "gang")), lambda pods: len(pods) == 3, show=states
        )
        assert len(history.named("gang-")) == 3
    admitted = text(condition(wait_until(workspace, "gang", "Admitted"), "Admitted"), "lastTransitionTime")
    assert all(text(pod, "metadata", "creationTimestamp") >= admitted for pod in gang)


def _pods(workspace: Workspace, name: str) -> Sequence[Object]:
    return workspace.pods(f"job-name={name}")
