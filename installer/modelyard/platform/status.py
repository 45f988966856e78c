"""Show what is installed, and whether it is ready."""

from __future__ import annotations

from modelyard import apply
from modelyard.apply import ComponentStatus
from modelyard.platform.where import Where

__all__ = ["ComponentStatus", "status"]


def status(where: Where) -> tuple[ComponentStatus, ...]:
    """Return the state of every installed component, by name.

    Raises:
        ClusterUnreachableError: nobody answers.
        RefusalError: an inventory cannot be trusted.
    """
    return apply.status(where.open())
