"""NICs that are resources of their nodes (EFA, eRDMA, RDMA) and the queue."""

from __future__ import annotations

import pytest

from conformance.support.jobs import job
from conformance.support.kinds import WORKLOAD
from conformance.support.pods import container
from conformance.support.queues import Queues
from conformance.support.workloads import wait_until
from conformance.support.workspace import Workspace
from modelyard.cluster import Session


def test_a_job_that_asks_for_nics_needs_no_quota_of_them(
    session: Session, workspace: Workspace, queues: Queues
) -> None:
    """Whether a node has them is the scheduler's affair.

    Seen to fail with `resources` taken out of Kueue's configuration (the workload waits for a quota that nobody has).
    """
    if session.list(WORKLOAD) is None:
        pytest.skip("not run: component kueue is not installed")
    queue = queues.queue(cpu="100m")
    runs = container(["sleep", "infinity"])
    runs["resources"] = {"requests": {"cpu": "50m"}, "limits": {"vpc.amazonaws.com/efa": "1"}}
    workspace.create(job("efa", queue.labels, runs=runs))
    wait_until(workspace, "efa", "Admitted")
