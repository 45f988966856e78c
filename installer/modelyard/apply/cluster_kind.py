"""Refuse a cluster that is not of the target's kind."""

from __future__ import annotations

from modelyard.catalog.models import Target
from modelyard.cluster import Session
from modelyard.errors import RefusalError
from modelyard.plan.cluster_kind import wrong_platform

GO_ON = "to go on all the same: --force-target"


def refuse_other_platforms(session: Session, target: Target) -> None:
    """Compare the cluster's API groups with those that the target requires and refuses.

    Raises:
        RefusalError: the cluster is of another kind.
    """
    groups = {resource.kind.group for resource in session.discovery.all()}
    if reason := wrong_platform(target, groups):
        raise RefusalError(f"cluster {session.server}", reason, f"take another target, or another cluster; {GO_ON}")
