"""What a cohort lends is shared by weight."""

from __future__ import annotations

import pytest

from conformance.support.jobs import job
from conformance.support.pods import sleeper
from conformance.support.queues import Queue, Queues
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace

pytestmark = pytest.mark.proves("kueue")

JOBS, SHARES = 8, {"heavy": 3, "light": 1}


def test_two_teams_share_a_cohort_by_their_weights(workspace: Workspace, queues: Queues) -> None:
    """The cohort's own quota holds eight jobs. One team takes all of it; the other, of three times its weight, comes
    later, and ends with six.

    Seen to fail with both weights 1.
    """
    cohort = queues.cohort(cpu=f"{JOBS * 10}m")
    teams = {name: queues.queue(cpu="0", cohort=cohort, weight=weight) for name, weight in SHARES.items()}
    _submit(workspace, teams["light"], "light")
    _wait_for_shares(queues, teams, {"heavy": "0", "light": "80m"})
    _submit(workspace, teams["heavy"], "heavy")
    _wait_for_shares(queues, teams, {"heavy": "60m", "light": "20m"})


def _submit(workspace: Workspace, queue: Queue, name: str) -> None:
    for index in range(JOBS):
        workspace.create(job(f"{name}-{index}", queue.labels, runs=sleeper(cpu="10m")))


def _wait_for_shares(queues: Queues, teams: dict[str, Queue], wanted: dict[str, str]) -> None:
    wait_for(
        f"the teams hold {wanted}",
        lambda: {name: queues.reserved_cpu(queue) for name, queue in teams.items()},
        lambda seen: seen == wanted,
    )
