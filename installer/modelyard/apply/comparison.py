"""All that is to be installed beside all that lives, read before the first write.

Nothing is written where somebody else has one of the objects: two managers of one object undo each other's changes, and
the first that is uninstalled takes it from the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial

from modelyard.apply import members
from modelyard.apply.component import State, prepared, recreated, state_of
from modelyard.apply.listing import definition_of
from modelyard.apply.run import Rendered
from modelyard.apply.strangers import WORKERS, strangers
from modelyard.apply.unchangeable import to_recreate
from modelyard.cluster import ApiError, Session
from modelyard.objects import GroupKind, Object, ObjectRef, labels_of, ref_of, text
from modelyard.plan import inventory, kinds
from modelyard.plan.adoption import Adoption, Stranger, refusal
from modelyard.plan.changes import Action
from modelyard.plan.desired import complete_digest
from modelyard.plan.inventory import PART_OF_LABEL, Inventory, applyset_id
from modelyard.plan.recreate import Named

NOTHING_WRITTEN = "nothing was written"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What all components are to be, and are.

    Args:
        digests: of each component's objects as they are to be.
        states: by component, but for those of which a kind could not be read yet.
        adopted: objects that are taken over, with whom they belong to until now.
        moved: objects that one component of the run no longer has, and another one takes.
        recreate: objects to delete and create again, since they cannot be changed, with the reason.
    """

    digests: Mapping[str, str]
    states: Mapping[str, State]
    adopted: Mapping[ObjectRef, str] = field(default_factory=dict)
    moved: frozenset[ObjectRef] = frozenset()
    recreate: Mapping[ObjectRef, str] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        """Tell whether nothing at all is to be done."""
        return all(state.finished for state in self.states.values())


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of one kind; `items` is None where the apiserver could not list it just now."""

    kind: GroupKind
    items: tuple[Object, ...] | None


def compare_all(
    session: Session,
    items: Sequence[Rendered],
    adoption: Adoption | None = None,
    recreate: Collection[Named] = (),
) -> Comparison:
    """Compare the objects of all components with what lives.

    Args:
        session: the cluster.
        items: the components.
        adoption: what may be taken over.
        recreate: what may be deleted and created again, where it cannot be changed.

    Raises:
        CatalogError: `adoption` or `recreate` names what is not among the objects.
        RefusalError: some of the objects are somebody else's, or cannot be changed, or an inventory cannot be trusted.
    """
    adoption = adoption or Adoption()
    rendered = {item.name: item.objects for item in items}
    adoption.check(rendered)
    parents = _parents(session)
    before = {name: members.trusted(session, parents[name], name) for name in rendered if name in parents}
    with ThreadPoolExecutor(WORKERS) as pool:
        reading = _read(session, pool, _versions(rendered, before), rendered)
        desired = {item.name: prepared(item) for item in items}  # while the apiserver writes megabytes of schemas
        reads = tuple(reading)
    unread = {read.kind for read in reads if read.items is None}
    live = _by_component(reads, desired)
    definitions = cache(partial(definition_of, session))
    states = {name: state_of(desired[name], before.get(name), live[name], definitions) for name in desired}
    found = strangers(session, _created(states, unread))
    moved = {each.ref for each in found if _moves(each, desired)}
    adopted = [each for each in found if each.ref not in moved and _may(each, adoption, before.get(each.component))]
    refused = [each for each in found if each not in adopted and each.ref not in moved]
    if refused:
        raise refusal(session.server, refused, NOTHING_WRITTEN)
    read_wholly = {name: state for name, state in states.items() if not _kinds(desired[name]) & unread}
    complete = {
        name: _with_theirs(state, [each for each in found if each.component == name])
        for name, state in read_wholly.items()
    }
    again = to_recreate(session, complete, recreate, NOTHING_WRITTEN)
    return Comparison(
        {name: complete_digest(objects) for name, objects in desired.items()},
        {name: recreated(state, again) for name, state in complete.items()},
        {each.ref: each.owner for each in adopted},
        frozenset(moved),
        again,
    )


def _parents(session: Session) -> dict[str, Object]:
    """Return the inventories' ConfigMaps by component."""
    listing = session.list(members.CONFIG_MAP, namespace=inventory.NAMESPACE)
    found = {text(item, "metadata", "name"): item for item in (listing.items if listing else ())}
    head = inventory.PREFIX
    return {name.removeprefix(head): item for name, item in found.items() if name.startswith(head)}


def _versions(desired: Mapping[str, Sequence[Object]], before: Mapping[str, Inventory]) -> set[tuple[GroupKind, str]]:
    """Return each kind that may have objects, with the API version to read it in; empty for the preferred one."""
    wanted = {(ref_of(obj).group_kind, _version(obj)) for objects in desired.values() for obj in objects}
    named = {kind for kind, _ in wanted}
    former = {kind for each in before.values() for kind in each.group_kinds}
    return wanted | {(kind, "") for kind in former - named}


def _read(
    session: Session, pool: Executor, versions: Iterable[tuple[GroupKind, str]], components: Iterable[str]
) -> Iterator[_Read]:
    """Begin to list each kind once, whatever component its objects are of; give what comes."""
    served = {resource.kind for resource in session.discovery.known()}
    ids = ",".join(sorted(applyset_id(name) for name in components))

    def read(kind_version: tuple[GroupKind, str]) -> _Read:
        kind, version = kind_version
        try:
            listing = session.list(kind, label_selector=f"{PART_OF_LABEL} in ({ids})", version=version)
        except ApiError as error:
            # Of a kind whose conversion webhook is down nothing can be read (500, or 429 while its cache begins). Its
            # own component may be what brings that back, so this does not end the run: each component is compared once
            # more when it is its turn.
            if not (error.code >= 500 or error.momentary or error.unconverted) or not kinds.is_custom(kind):
                raise
            return _Read(kind, None)
        return _Read(kind, listing.items if listing else ())

    return pool.map(read, sorted(each for each in versions if each[0] in served))


def _by_component(
    reads: Iterable[_Read], desired: Mapping[str, Sequence[Object]]
) -> dict[str, dict[ObjectRef, Object]]:
    """Return the labelled objects by component, each in the version in which its component has its kind."""
    names = {applyset_id(name): name for name in desired}
    versions = {
        (name, ref_of(obj).group_kind): text(obj, "apiVersion") for name, objects in desired.items() for obj in objects
    }
    found: dict[str, dict[ObjectRef, Object]] = {name: {} for name in desired}
    for read in reads:
        for item in read.items or ():
            name = names[labels_of(item)[PART_OF_LABEL]]
            if versions.get((name, read.kind), text(item, "apiVersion")) == text(item, "apiVersion"):
                found[name][ref_of(item)] = item
    for name, live in found.items():
        live.pop(members.parent_ref(name), None)
    return found


def _created(states: Mapping[str, State], unread: set[GroupKind]) -> dict[ObjectRef, tuple[str, Object]]:
    """Return what would be created, with its component."""
    found = {}
    for name, state in states.items():
        new = {change.ref for change in state.changes if change.action is Action.CREATE}
        for obj in state.desired:
            if ref_of(obj) in new and ref_of(obj).group_kind not in unread:
                found[ref_of(obj)] = name, obj
    return found


def _moves(stranger: Stranger, desired: Mapping[str, Sequence[Object]]) -> bool:
    """Tell whether the object is that of a component of this run that no longer has it."""
    owners = {applyset_id(name) for name in desired if name != stranger.component}
    return labels_of(stranger.live).get(PART_OF_LABEL) in owners


def _may(stranger: Stranger, adoption: Adoption, before: Inventory | None) -> bool:
    """Tell whether the object may be taken over: it is asked for, or was by an install that did not end."""
    begun = before is not None and not before.complete and stranger.ref in before.adopted
    return begun or adoption.covers(stranger.component, stranger.ref)


def _with_theirs(state: State, theirs: Sequence[Stranger]) -> State:
    if not theirs:
        return state
    return state_of(state.desired, state.before, {**state.live, **{each.ref: each.live for each in theirs}})


def _kinds(objects: Iterable[Object]) -> set[GroupKind]:
    return {ref_of(obj).group_kind for obj in objects}


def _version(obj: Object) -> str:
    return text(obj, "apiVersion").rpartition("/")[2]
