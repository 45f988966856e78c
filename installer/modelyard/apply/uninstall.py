"""Remove what was installed: exactly that, backwards, users' objects only if that was asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

from modelyard.apply import members
from modelyard.apply.chosen import forget_choice
from modelyard.apply.controllers import in_charge
from modelyard.apply.drain import drain
from modelyard.apply.draining import refuse_used, stop_users, used
from modelyard.apply.held import held_by, objects_of
from modelyard.apply.holding import refuse_stranded
from modelyard.apply.in_order import in_order
from modelyard.apply.leftovers import release
from modelyard.apply.removal import Removal, users_objects
from modelyard.apply.revive import revive
from modelyard.apply.run import Run
from modelyard.apply.stuck import Stuck
from modelyard.catalog.removal import group_kind
from modelyard.cluster import ApiError, Session
from modelyard.errors import ModelyardError, RefusalError
from modelyard.events import Emit, Note, StepDone, StepFailed, StepStarted, discard
from modelyard.objects import GroupKind, Object, ObjectRef, ref_of
from modelyard.plan import inventory, kinds
from modelyard.plan.prune import in_use, kind_of_crd
from modelyard.plan.removal import Step, is_by_product, is_users, step_of, steps


def uninstall(
    session: Session,
    removal: Removal,
    *,
    delete_data: bool = False,
    remove_finalizers: bool = False,
    emit: Emit = discard,
    timeout: float = 300.0,
    cancelled: threading.Event | None = None,
) -> float:
    """Remove what `plan_removal` found; running both again goes on where it was. Return the seconds it took.

    Args:
        session: the cluster.
        removal: what to remove.
        delete_data: also delete users' custom resources, and namespaces with all that is in them.
        remove_finalizers: take finalizers off what does not go (`plan.stuck.removable`).
        emit: takes the events.
        timeout: seconds that each single wait may last.
        cancelled: set it to stop at the next safe point.

    Raises:
        RefusalError: a CRD holds users' objects, or something is in use, and `delete_data` is not set: they are
            kept. It is looked for before anything goes, before each component and, for users' objects, once more
            before each component's CRDs. Or, either way: pods could not be deleted any more.
        NotReadyError: something is still there when the deadline passes.
    """
    began = time.monotonic()
    refuse_stranded(session, removal.rules, removal.order)
    if not delete_data:
        _refuse_data(removal.held, "nothing was changed")
        refuse_used(session, removal.all_rules.drains, removal.mine, "nothing was changed")
    run = Run(session, emit, timeout, {}, cancelled or threading.Event())
    for name, refs in removal.lost.items():
        emit(Note(f"{name} stays: its inventory is lost, though {len(refs)} objects carry its label ({refs[0]}, ...)"))
    dead = revive(run, removal.controllers, in_charge(session, removal.controllers, removal.objects))
    stuck = Stuck(removal.controllers, removal.mine, set(removal.order), dead, remove_finalizers)
    stuck.disarm(run)
    in_order(run, removal.after, lambda name: _one(run, name, removal, stuck, delete_data=delete_data))
    _last(run, stuck)
    return time.monotonic() - began


def _defines(ref: ObjectRef) -> bool:
    return ref.group_kind == kinds.CRD


def _refuse_data(held: Mapping[ObjectRef, Sequence[ObjectRef]], so_far: str) -> None:
    definitions = {ref: users for ref, users in held.items() if _defines(ref)}
    if definitions:
        raise RefusalError(
            next(iter(sorted(definitions))).name,
            f"users' objects would be lost: {in_use(definitions)}; {so_far}",
            "delete them first, or say so: modelyard uninstall --delete-data",
        )


def _one(run: Run, name: str, removal: Removal, stuck: Stuck, *, delete_data: bool) -> None:
    key = f"uninstall:{name}"
    began = time.monotonic()
    run.emit(StepStarted(key, f"remove {name}"))
    try:
        try:
            _remove(run, key, name, removal, stuck, delete_data=delete_data)
        except ApiError as error:
            raise stuck.refused(run, error) from error
    except ModelyardError as error:
        run.emit(StepFailed(key, time.monotonic() - began, f"{error.subject}: {error.cause}"))
        raise
    run.emit(StepDone(key, time.monotonic() - began, f"{len(removal.objects[name])} objects"))


def _remove(run: Run, key: str, name: str, removal: Removal, stuck: Stuck, *, delete_data: bool) -> None:
    objects = removal.objects[name]
    definitions = {ref: obj for ref, obj in objects.items() if _defines(ref)}
    own = [kind_of_crd(obj) for obj in definitions.values()]
    if delete_data:
        _stop_users(run, key, name, removal, stuck)
        drain(run, key, _users_resources(run.session, own, set(objects), removal), stuck, foreground=True)
    else:  # since it was planned, somebody may have made some
        _refuse_data(users_objects(run.session, removal, definitions), f"{name} is as it was")
        refuse_used(run.session, removal.all_rules.drains, objects, f"{name} is as it was")
    rest = _resources(run, key, objects, definitions, removal, stuck)
    for step, refs in steps(rest, own):
        going = {ref: rest[ref] for ref in refs}
        if step is Step.DEFINITIONS and delete_data:
            release(run, name, definitions.values())
        elif step is Step.DEFINITIONS:
            _refuse_data(users_objects(run.session, removal, going), f"they are kept; the rest of {name} is gone")
        if step is Step.NAMESPACES and not delete_data:
            going = _without_users(run, name, going, removal)
        drain(run, key, going, stuck, foreground=step is Step.WORKLOADS)
    run.session.delete(members.parent_ref(name))


def _stop_users(run: Run, key: str, name: str, removal: Removal, stuck: Stuck) -> None:
    """Have those stopped who use what goes; not by a controller that does not come back, where that is known."""
    refs = removal.objects[name]
    for rule in removal.all_rules.drains:
        if not (stuck.remove and stuck.is_dead(group_kind(rule.users))):
            stop_users(run, key, name, rule, refs)
        elif held := used(run.session, [rule], refs):
            run.emit(Note(f"{name}: those who use what goes are not stopped, its controller is gone: {in_use(held)}"))


def _resources(
    run: Run,
    key: str,
    objects: Mapping[ObjectRef, Object],
    definitions: Mapping[ObjectRef, Object],
    removal: Removal,
    stuck: Stuck,
) -> dict[ObjectRef, Object]:
    """Remove a component's custom resources, and what its controller made of them while it can clean up after that.

    Return the objects that are left of it.
    """
    own = [kind_of_crd(obj) for obj in definitions.values()]
    resources = {ref: obj for ref, obj in objects.items() if step_of(ref.group_kind, own) is Step.RESOURCES}
    drain(run, key, resources, stuck)
    made = [item for _, crd in sorted(definitions.items()) for item in objects_of(run.session, crd)]
    kept = removal.all_rules.byProducts
    drain(run, key, {ref_of(item): item for item in made if is_by_product(item, objects, own, kept)}, stuck)
    return {ref: obj for ref, obj in objects.items() if ref not in resources}


def _users_resources(
    session: Session, own: Sequence[GroupKind], mine: set[ObjectRef], removal: Removal
) -> dict[ObjectRef, Object]:
    """Return users' objects of a component's kinds, while its controller can still clean up after them."""
    listings = [session.list(kind, metadata_only=True) for kind in sorted(own)]
    items = [item for listing in listings if listing for item in listing.items]
    return {ref_of(item): item for item in items if is_users(item, mine, own=own, made=removal.all_rules.byProducts)}


def _without_users(run: Run, name: str, going: Mapping[ObjectRef, Object], removal: Removal) -> dict[ObjectRef, Object]:
    """Return the namespaces that nobody else uses; looked at again now, not only when it was planned."""
    held = users_objects(run.session, removal, going)
    for ref, users in held.items():
        run.emit(Note(f"{name}: kept {ref}: {in_use({ref: users})}"))
    return {ref: obj for ref, obj in going.items() if ref not in held}


def _last(run: Run, stuck: Stuck) -> None:
    """Remove what was chosen, and the inventories' namespace, once there are no inventories left."""
    ref = ObjectRef("", "Namespace", "", inventory.NAMESPACE)
    namespace = run.session.get(ref)
    if namespace is None or members.read_all(run.session):
        return
    forget_choice(run.session)
    if not held_by(run.session, namespace, mine=()):
        drain(run, "uninstall", {ref: namespace}, stuck)
