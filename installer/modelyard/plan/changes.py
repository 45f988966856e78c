"""What an install has to do: create, adopt, update, leave, delete. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from modelyard.objects import GroupKind, Object, ObjectRef, labels_of, ref_of
from modelyard.plan.drift import drifted, no_definitions
from modelyard.plan.inventory import PART_OF_LABEL
from modelyard.plan.quantities import Definitions
from modelyard.readiness.conditions import condition, describe

_JOB = GroupKind("batch", "Job")


class Action(StrEnum):
    """What happens to one object."""

    CREATE = "create"
    ADOPT = "adopt"
    UPDATE = "update"
    RECREATE = "recreate"
    UNCHANGED = "unchanged"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to the object `ref`."""

    ref: ObjectRef
    action: Action


def changes(
    desired: Sequence[Object], live: Mapping[ObjectRef, Object], definitions: Definitions = no_definitions
) -> tuple[Change, ...]:
    """Compare `desired` with `live`; what is live and not desired is deleted. In the order of `desired`."""
    wanted = [ref_of(obj) for obj in desired]
    found = [Change(ref_of(obj), action(obj, live.get(ref_of(obj)), definitions)) for obj in desired]
    gone = sorted(set(live) - set(wanted))
    return (*found, *(Change(ref, Action.DELETE) for ref in gone))


def action(desired: Object, live: Object | None, definitions: Definitions = no_definitions) -> Action:
    """Return what it takes for `live` to become `desired`."""
    if live is None:
        return Action.CREATE
    if failed_job(live):
        return Action.RECREATE
    if labels_of(live).get(PART_OF_LABEL) != labels_of(desired).get(PART_OF_LABEL):
        return Action.ADOPT  # somebody else's until now; that it may be had was decided before
    return Action.UPDATE if drifted(desired, live, definitions) else Action.UNCHANGED


def failed_job(live: Object) -> str:
    """Return why a live Job has failed for good: nothing but a new one brings it on. Empty for all else."""
    if ref_of(live).group_kind != _JOB:
        return ""
    failed = condition(live, "Failed")
    return f"it failed before: {describe(failed)}" if failed.get("status") == "True" else ""


def recreating(found: Sequence[Change], refs: Collection[ObjectRef]) -> tuple[Change, ...]:
    """Return the same changes, where those of `refs` are made by creating the objects again."""
    return tuple(
        replace(each, action=Action.RECREATE)
        if each.action in (Action.UPDATE, Action.ADOPT) and each.ref in refs
        else each
        for each in found
    )
