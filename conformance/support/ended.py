"""Jobs of kinds that say by conditions how they ended."""

from __future__ import annotations

from conformance.support.conditions import is_true, summary
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.objects import GroupKind, Object

SECONDS = 300.0


def ended_well(workspace: Workspace, kind: GroupKind, name: str, condition: str) -> Object:
    """Wait until a job has ended, see that it ended well, and return it.

    Args:
        workspace: where it is.
        kind: of the job.
        name: of the job.
        condition: the one that holds once it has ended well; else Failed does.
    """
    job = wait_for(
        f"the {kind.kind} ends",
        lambda: workspace.get(kind, name),
        lambda found: is_true(found, condition) or is_true(found, "Failed"),
        seconds=SECONDS,
        show=summary,
    )
    assert is_true(job, condition), summary(job)
    return job
