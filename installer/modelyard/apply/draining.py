"""What goes while others use it: refused, or its users are stopped by its controller first."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from modelyard.apply.held import objects_of
from modelyard.apply.run import Run
from modelyard.catalog.removal import Drain, group_kind
from modelyard.cluster import Session, Watcher
from modelyard.errors import NotReadyError, RefusalError
from modelyard.events import Note
from modelyard.objects import GroupKind, Object, ObjectRef
from modelyard.plan import draining, kinds
from modelyard.plan.prune import in_use

TICK_SECONDS = 0.5


def used(session: Session, drains: Iterable[Drain], refs: Iterable[ObjectRef]) -> dict[ObjectRef, Sequence[ObjectRef]]:
    """Return those of `refs` that others use, by the rules, with who does."""
    going = list(refs)
    return draining.together(_used(session, drain, going) for drain in drains)


def _used(session: Session, drain: Drain, refs: Sequence[ObjectRef]) -> dict[ObjectRef, Sequence[ObjectRef]]:
    going = [ref for ref in refs if ref.group_kind == group_kind(drain.kind)]
    return draining.in_use(drain, going, _users(session, group_kind(drain.users)) if going else ())


def _users(session: Session, kind: GroupKind) -> Sequence[Object]:
    resource = session.discovery.find(kind)
    if resource is None:
        return ()
    # As they are stored: any other version may take a conversion webhook, which may be gone.
    crd = session.get(ObjectRef(kinds.CRD.group, kinds.CRD.kind, "", f"{resource.plural}.{kind.group}"))
    return objects_of(session, crd, metadata_only=False) if crd else ()


def refuse_used(session: Session, drains: Iterable[Drain], refs: Iterable[ObjectRef], so_far: str) -> None:
    """Refuse to take something away from under those who use it.

    Args:
        session: the cluster.
        drains: the rules.
        refs: what goes.
        so_far: what has been done already.

    Raises:
        RefusalError: something is in use.
    """
    held = used(session, drains, refs)
    if held:
        raise RefusalError(
            str(next(iter(held))),
            f"is in use: {in_use(held)}; {so_far}",
            "delete those or let them end first, or say so: modelyard uninstall --delete-data; it has them stopped",
        )


def stop_users(run: Run, key: str, name: str, drain: Drain, refs: Iterable[ObjectRef]) -> None:
    """Have the controller stop those who use what goes, and wait until none does: only then can it go.

    Args:
        run: the run.
        key: the step that is told of the progress.
        name: the component whose objects they are.
        drain: the rule.
        refs: what goes.

    Raises:
        NotReadyError: something is still in use when the deadline passes.
    """
    held = _used(run.session, drain, list(refs))
    if not held:
        return
    with Watcher(run.session) as watcher:
        users = {seen.ref: seen.obj for seen in watcher.watch(group_kind(drain.users))}
        for ref in held:
            run.session.patch(ref, drain.patch)
            run.emit(Note(f"{name}: stopped those who use what goes: {in_use({ref: held[ref]})}"))
        _until_stopped(run, key, watcher, drain, list(held), users)


def _until_stopped(
    run: Run,
    key: str,
    watcher: Watcher,
    drain: Drain,
    going: Sequence[ObjectRef],
    users: dict[ObjectRef, Object | None],
) -> None:
    deadline = run.deadline()
    told: Mapping[ObjectRef, Sequence[ObjectRef]] = {}
    while held := draining.in_use(drain, going, [each for each in users.values() if each is not None]):
        run.check()
        now = time.monotonic()
        if now >= deadline:
            ref, [user, *_] = next(iter(held.items()))
            raise NotReadyError(
                str(ref),
                f"is still in use after {run.timeout:.0f} s: {in_use(held)}",
                f"see why: kubectl -n {user.namespace} describe {user.kind.lower()} {user.name}; then run the same "
                "command again: it goes on where it was",
            )
        if held != told:
            run.progress(key, f"waiting for those who use it: {in_use(held)}")
            told = held
        seen = watcher.next(min(TICK_SECONDS, deadline - now))
        if seen is not None:
            users[seen.ref] = seen.obj
