"""What an install would change: read only, or with the apiserver's own check (a dry run)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modelyard.apply.comparison import Comparison, compare_all
from modelyard.apply.component import State, compare
from modelyard.apply.run import Rendered, Run
from modelyard.cluster import ApiError, Session
from modelyard.events import discard
from modelyard.objects import Object, ObjectRef, ref_of
from modelyard.plan import kinds
from modelyard.plan.changes import Action, Change
from modelyard.plan.inventory import Inventory


@dataclass(frozen=True, slots=True)
class Preview:
    """What would happen to one component.

    Args:
        component: its name.
        changes: what would change; unchanged objects are left out.
        refusals: objects that the apiserver would refuse, with its message (server dry run only).
        unchecked: objects that it cannot check yet: their namespace or kind comes with the install.
        before: its inventory, if it is installed.
    """

    component: str
    changes: tuple[Change, ...]
    refusals: tuple[tuple[ObjectRef, str], ...]
    unchecked: int
    before: Inventory | None


def preview(
    session: Session, items: Sequence[Rendered], *, server: bool, compared: Comparison | None = None
) -> tuple[Preview, ...]:
    """Return what an install of `items` would change; nothing is written.

    Args:
        session: the cluster.
        items: what would be installed.
        server: have the apiserver check every object that would change, admission included.
        compared: the components beside what lives, if that was read just now (compare_all).

    Raises:
        RefusalError: an inventory cannot be trusted, or objects are somebody else's or cannot be changed.
    """
    compared = compared or compare_all(session, items)
    run = Run(session, discard, timeout=0.0, adopted=compared.adopted, moved=compared.moved, recreate=compared.recreate)
    coming = _coming(items)
    return tuple(
        _one(session, item, compared.states.get(item.name) or compare(run, item), coming, server=server)
        for item in items
    )


def _one(session: Session, item: Rendered, state: State, coming: set[str], *, server: bool) -> Preview:
    changed = tuple(change for change in state.changes if change.action is not Action.UNCHANGED)
    refusals: list[tuple[ObjectRef, str]] = []
    unchecked = 0
    touched = {change.ref for change in changed if change.action not in (Action.DELETE, Action.RECREATE)}
    for obj in state.desired if server else ():
        if ref_of(obj) not in touched:
            continue
        if _not_yet(session, obj, coming):
            unchecked += 1
            continue
        try:
            session.apply(obj, dry_run=True)
        except ApiError as error:
            refusals.append((ref_of(obj), error.message))
    return Preview(item.name, changed, tuple(refusals), unchecked, state.before)


def _coming(items: Sequence[Rendered]) -> set[str]:
    """Return the namespaces that the install itself would bring."""
    return {ref_of(obj).name for item in items for obj in item.objects if ref_of(obj).group_kind == kinds.NAMESPACE}


def _not_yet(session: Session, obj: Object, coming: set[str]) -> bool:
    """Tell whether `obj` can only be checked once other objects of the install are there."""
    ref = ref_of(obj)
    if session.discovery.find(ref.group_kind) is None:
        return True
    return ref.namespace in coming and session.get(ObjectRef("", "Namespace", "", ref.namespace)) is None
