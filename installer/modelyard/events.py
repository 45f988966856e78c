"""Progress as data: the verbs emit these, the command line alone prints them.

Source of the idea: kubernetes-sigs/cli-utils, pkg/apply/event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step began. `key` is unique in a run ("build:kueue"); `title` is for people."""

    key: str
    title: str


@dataclass(frozen=True, slots=True)
class StepProgress:
    """What a running step last saw ("Deployment kueue-controller-manager: 0/1 ready")."""

    key: str
    detail: str


@dataclass(frozen=True, slots=True)
class StepDone:
    """A step ended well after `seconds`; `detail` may say what it did ("73 objects, 2 changed")."""

    key: str
    seconds: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class StepFailed:
    """A step failed after `seconds` for `reason`."""

    key: str
    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something a user should know that is no step."""

    text: str


Event = StepStarted | StepProgress | StepDone | StepFailed | Note
Emit = Callable[[Event], None]


def discard(event: Event) -> None:
    """Drop an event: the default where nobody listens."""
