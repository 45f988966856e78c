"""What an install has to do: create, adopt, update, leave, delete. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from modelyard.objects import Object, ObjectRef, labels_of, ref_of
from modelyard.plan.drift import drifted
from modelyard.plan.inventory import PART_OF_LABEL


class Action(StrEnum):
    """What happens to one object."""

    CREATE = "create"
    ADOPT = "adopt"
    UPDATE = "update"
    UNCHANGED = "unchanged"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to the object `ref`."""

    ref: ObjectRef
    action: Action


def changes(desired: Sequence[Object], live: Mapping[ObjectRef, Object]) -> tuple[Change, ...]:
    """Compare `desired` with `live`; what is live and not desired is deleted. In the order of `desired`."""
    wanted = [ref_of(obj) for obj in desired]
    found = [Change(ref_of(obj), action(obj, live.get(ref_of(obj)))) for obj in desired]
    gone = sorted(set(live) - set(wanted))
    return (*found, *(Change(ref, Action.DELETE) for ref in gone))


def action(desired: Object, live: Object | None) -> Action:
    """Return what it takes for `live` to become `desired`."""
    if live is None:
        return Action.CREATE
    if labels_of(live).get(PART_OF_LABEL) != labels_of(desired).get(PART_OF_LABEL):
        return Action.ADOPT  # somebody else's until now; that it may be had was decided before
    return Action.UPDATE if drifted(desired, live) else Action.UNCHANGED
