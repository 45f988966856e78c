"""Objects that would be created and live already, without their component's label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from modelyard.apply import members
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, ObjectRef, labels_of, ref_of, text
from modelyard.plan import inventory, kinds
from modelyard.plan.adoption import Stranger
from modelyard.plan.owners import in_every_namespace, owner_of

WORKERS = 8
_SINGLE = 2  # so many objects of one kind and namespace are asked for one by one


@dataclass(frozen=True, slots=True)
class _Place:
    """Where objects of one list are; the namespace is empty for a kind that has none."""

    kind: GroupKind
    namespace: str


def strangers(session: Session, wanted: Mapping[ObjectRef, tuple[str, Object]]) -> tuple[Stranger, ...]:
    """Return those of the `wanted` objects that live and are not their component's; by reference.

    One list of metadata for each kind and namespace that is there: a cluster that is new is asked for little more than
    its namespaces.

    Args:
        session: the cluster.
        wanted: the component and the desired object, by reference; none of them lives with the component's label.

    Raises:
        ModelyardError: a list failed; then nothing may be concluded.
    """
    if not wanted:
        return ()
    served = {resource.kind: resource for resource in session.discovery.known()}
    known = {ref for ref in wanted if ref.group_kind in served}
    inside = {ref for ref in known if served[ref.group_kind].namespaced}
    namespaces = _namespaces(session) if inside else frozenset()
    places: dict[_Place, list[ObjectRef]] = {}
    for ref in sorted(known):
        if ref not in inside or ref.namespace in namespaces:
            place = _Place(ref.group_kind, ref.namespace if ref in inside else "")
            places.setdefault(place, []).append(ref)
    with ThreadPoolExecutor(WORKERS) as pool:
        there = [ref for found in pool.map(lambda place: _there(session, *place), places.items()) for ref in found]
        lives = dict(zip(there, pool.map(session.get, there), strict=True))
    found = [(ref, live) for ref, live in sorted(lives.items()) if live is not None and _foreign(live, *wanted[ref])]
    applysets = _applysets(session) if any(labels_of(live).get(inventory.PART_OF_LABEL) for _, live in found) else {}
    return tuple(
        Stranger(component=wanted[ref][0], owner=_owner(live, applysets), desired=wanted[ref][1], live=live)
        for ref, live in found
    )


def _there(session: Session, place: _Place, refs: Sequence[ObjectRef]) -> Sequence[ObjectRef]:
    """Return those of `refs` that may live: where they are few, each is asked for afterwards anyway."""
    if len(refs) <= _SINGLE:
        return refs
    listing = session.list(place.kind, namespace=place.namespace, metadata_only=True)
    live = {ref_of(item) for item in (listing.items if listing else ())}
    return [ref for ref in refs if ref in live]


def _namespaces(session: Session) -> frozenset[str]:
    listing = session.list(kinds.NAMESPACE, metadata_only=True)
    return frozenset(ref_of(item).name for item in (listing.items if listing else ()))


def _foreign(live: Object, component: str, _: Object) -> bool:
    mine = labels_of(live).get(inventory.PART_OF_LABEL) == inventory.applyset_id(component)
    return not mine and not in_every_namespace(live)


def _applysets(session: Session) -> dict[str, str]:
    """Return the installed components by the id of their ApplySet."""
    listing = session.list(members.CONFIG_MAP, namespace=inventory.NAMESPACE, label_selector=inventory.ID_LABEL)
    parents: Iterable[Object] = listing.items if listing else ()
    names = [text(parent, "metadata", "name").removeprefix(inventory.PREFIX) for parent in parents]
    return {inventory.applyset_id(name): name for name in names}


def _owner(live: Object, applysets: Mapping[str, str]) -> str:
    going = " (being deleted)" if text(live, "metadata", "deletionTimestamp") else ""
    return owner_of(live, applysets=applysets) + going
