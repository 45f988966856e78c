"""Is a cluster of the kind that a target is for? Pure."""

from __future__ import annotations

from collections.abc import Collection

from modelyard.catalog.models import Target


def wrong_platform(target: Target, groups: Collection[str]) -> str:
    """Return why a cluster is not of the target's kind; empty where nothing speaks against it.

    Args:
        target: the target.
        groups: the cluster's API groups.
    """
    missing = [group for group in target.requiresApiGroups if group not in groups]
    if missing:
        return f"has no API group {', '.join(missing)}, which every cluster of target {target.name} has"
    other = [group for group in target.refusesApiGroups if group in groups]
    if other:
        return f"has API group {', '.join(other)}, which no cluster of target {target.name} has"
    return ""
