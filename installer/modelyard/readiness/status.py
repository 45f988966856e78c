"""What an object's state amounts to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Current: as asked for, and working. InProgress: on its way. Failed: will not get there by itself."""

    CURRENT = "Current"
    IN_PROGRESS = "InProgress"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True)
class Readiness:
    """A status and its exact reason ("0/1 ready"); a Current object needs none."""

    status: Status
    reason: str = ""

    @property
    def current(self) -> bool:
        """Tell whether the object is ready."""
        return self.status is Status.CURRENT


CURRENT = Readiness(Status.CURRENT)


def in_progress(reason: str) -> Readiness:
    """Return InProgress for `reason`."""
    return Readiness(Status.IN_PROGRESS, reason)


def failed(reason: str) -> Readiness:
    """Return Failed for `reason`."""
    return Readiness(Status.FAILED, reason)
