"""Queues of a cohort lend each other what they do not use, and get it back."""

from __future__ import annotations

import pytest

from conformance.support.conditions import condition, summary
from conformance.support.jobs import job
from conformance.support.pods import running, states, wait_until_gone
from conformance.support.queues import Queues
from conformance.support.waiting import wait_for
from conformance.support.workloads import wait_until, wait_until_held
from conformance.support.workspace import Workspace
from modelyard.objects import text

pytestmark = pytest.mark.proves("kueue")

# By which of the two rules depends on whether Kueue is configured for fair sharing.
RECLAIMED = ("InCohortReclamation", "InCohortFairSharing")


def test_a_queue_borrows_in_its_cohort_and_the_lender_gets_its_quota_back(workspace: Workspace, queues: Queues) -> None:
    """Two jobs fill the borrower's quota and the lender's; the lender's own job ends one of them, and one only.

    Seen to fail with the ClusterQueues' reclaimWithinCohort set to Never: nothing comes back.
    """
    cohort = queues.cohort()
    borrower = queues.queue(cpu="100m", cohort=cohort)
    lender = queues.queue(cpu="100m", cohort=cohort)
    for name in ("own", "borrowed"):
        workspace.create(job(name, borrower.labels, pods=2))
        _both_run(workspace, name)
    wait_for("the borrower has lent quota", lambda: queues.reserved_cpu(borrower), lambda cpu: cpu == "200m")

    workspace.create(job("lenders", lender.labels, pods=2))
    _both_run(workspace, "lenders")
    evicted = wait_until_held(workspace, "borrowed")
    assert text(condition(evicted, "Preempted"), "reason") in RECLAIMED, summary(evicted)
    wait_until_gone(workspace, "borrowed")
    assert len(running(workspace.pods("job-name=own"))) == 2
    wait_until(workspace, "own", "Admitted")


def _both_run(workspace: Workspace, name: str) -> None:
    wait_for(
        f"{name} runs", lambda: running(workspace.pods(f"job-name={name}")), lambda pods: len(pods) == 2, show=states
    )
