"""Changes that the apiserver will not make to what is there, found before the first write."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from modelyard.apply.component import State
from modelyard.apply.strangers import WORKERS
from modelyard.cluster import ApiError, Session
from modelyard.errors import RefusalError
from modelyard.objects import Object, ObjectRef, ref_of
from modelyard.plan.changes import Action
from modelyard.plan.recreate import Named, cause_of, chosen, is_unchangeable, name_of, way_on_by_hand


@dataclass(frozen=True, slots=True)
class Unchangeable:
    """An object that cannot become what is rendered.

    Args:
        ref: the object.
        live: as it is.
        cause: what the apiserver says of the change.
    """

    ref: ObjectRef
    live: Object
    cause: str


def to_recreate(
    session: Session, states: Mapping[str, State], recreate: Collection[Named], so_far: str
) -> dict[ObjectRef, str]:
    """Return the objects that are deleted and created again, with the reason.

    Each object that would change is tried by a dry run: the apiserver alone knows all fields that cannot be changed,
    those of custom kinds among them.

    Args:
        session: the cluster.
        states: the components as they are and should be.
        recreate: objects that may be deleted for it.
        so_far: what has been written already, for people.

    Raises:
        CatalogError: `recreate` names an object that is not among them.
        RefusalError: an object cannot be changed, and is not among `recreate` or must never be deleted for it.
    """
    may = chosen(recreate, {ref_of(obj) for state in states.values() for obj in state.desired})
    found = _unchangeable(session, states.values())
    kept = [(each, way) for each in found if (way := way_on_by_hand(each.ref, each.live))]
    if kept:
        raise RefusalError(str(kept[0][0].ref), f"{_cannot([each for each, _ in kept])}; {so_far}", kept[0][1])
    stuck = [each for each in found if each.ref not in may]
    if stuck:
        options = " ".join(f"--recreate {name_of(each.ref)}" for each in stuck)
        raise RefusalError(
            str(stuck[0].ref),
            f"{_cannot(stuck)}; {so_far}",
            f"to have it deleted and created again, add to the same command: {options}",
        )
    return {each.ref: each.cause for each in found}


def _unchangeable(session: Session, states: Iterable[State]) -> list[Unchangeable]:
    changing = [
        (obj, state.live[ref_of(obj)])
        for state in states
        for obj in state.desired
        if state.actions[ref_of(obj)] in (Action.UPDATE, Action.ADOPT)
    ]
    with ThreadPoolExecutor(WORKERS, "dry-run") as pool:
        tried = pool.map(lambda pair: _try(session, *pair), changing)
        return sorted((each for each in tried if each is not None), key=lambda each: each.ref)


def _try(session: Session, desired: Object, live: Object) -> Unchangeable | None:
    """Let the apiserver try the change; of its refusals only those count that no later step of an install cures."""
    try:
        session.apply(desired, dry_run=True)
    except ApiError as error:
        if is_unchangeable(error.code, error.message):
            return Unchangeable(ref_of(desired), live, cause_of(error.message))
    return None


def _cannot(stuck: Sequence[Unchangeable]) -> str:
    more = f" (also {', '.join(str(each.ref) for each in stuck[1:])})" if len(stuck) > 1 else ""
    return f"cannot be changed as it would have to be: {stuck[0].cause}{more}"
