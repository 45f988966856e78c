"""What would be taken away from under those who use it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from modelyard.catalog.removal import Drain, group_kind
from modelyard.objects import Object, ObjectRef, mappings, ref_of, text
from modelyard.plan.paths_in import strings_at


def in_use(drain: Drain, refs: Iterable[ObjectRef], users: Iterable[Object]) -> dict[ObjectRef, Sequence[ObjectRef]]:
    """Return which objects use which of `refs`, for those that any uses.

    Args:
        drain: the rule.
        refs: what goes; of the rule's kind or not.
        users: all objects of the kind that may use it, with their status.
    """
    going = {(ref.namespace, ref.name): ref for ref in refs if ref.group_kind == group_kind(drain.kind)}
    held: dict[ObjectRef, list[ObjectRef]] = {}
    for user in users:
        # Of the user's namespace, or of none.
        spaces = ("", ref_of(user).namespace)
        keys = {(space, name) for name in strings_at(user, drain.path) for space in spaces}
        for ref in sorted(going[key] for key in keys if key in going) if not _over(drain, user) else ():
            held.setdefault(ref, []).append(ref_of(user))
    return {ref: sorted(found) for ref, found in sorted(held.items())}


def together(found: Iterable[Mapping[ObjectRef, Sequence[ObjectRef]]]) -> dict[ObjectRef, Sequence[ObjectRef]]:
    """Return what is in use by several rules as one."""
    return {ref: users for each in found for ref, users in each.items()}


def _over(drain: Drain, user: Object) -> bool:
    conditions = mappings(user, "status", "conditions")
    return any(text(each, "type") == drain.until and text(each, "status") == "True" for each in conditions)
