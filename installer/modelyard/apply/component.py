"""Install one component: inventory, waves, prune."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial

from modelyard.apply import members
from modelyard.apply.answering import wait_answering
from modelyard.apply.departing import departing, wait_departed
from modelyard.apply.listing import definition_of
from modelyard.apply.prune import prune
from modelyard.apply.run import Rendered, Run
from modelyard.apply.served import wait_served
from modelyard.apply.strangers import strangers
from modelyard.apply.wait import wait_ready
from modelyard.catalog.removal import NO_RULES, merged
from modelyard.errors import CatalogError
from modelyard.events import Note
from modelyard.objects import Object, ObjectRef, ref_of, text
from modelyard.plan import kinds
from modelyard.plan.adoption import handed_over, refusal
from modelyard.plan.changes import Action, Change, changes, failed_job, recreating
from modelyard.plan.desired import complete_digest, prepare
from modelyard.plan.drift import no_definitions
from modelyard.plan.hooks import holds_up_others, hooks
from modelyard.plan.inventory import Inventory, applyset_id, union
from modelyard.plan.prune import prune_set
from modelyard.plan.quantities import Definitions
from modelyard.plan.replicas import with_replicas
from modelyard.plan.waves import Stage, Wave, waves
from modelyard.readiness import CURRENT, Readiness, Status, assess, pods_exist


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an install did to one component."""

    component: str
    changes: tuple[Change, ...]

    def count(self, what: Action) -> int:
        """Return how many objects had `what` done."""
        return sum(change.action is what for change in self.changes)

    def __str__(self) -> str:
        changed = len(self.changes) - self.count(Action.UNCHANGED)
        return (
            f"{len(self.changes)} objects, {changed} changed" if changed else f"{len(self.changes)} objects, unchanged"
        )


@dataclass(frozen=True, slots=True)
class State:
    """A component as it should be and as it is.

    Args:
        desired: its objects as they are sent.
        live: the live objects that carry its label, and those that it takes over.
        before: its inventory; None where it was never installed, or has lost it.
        changes: what has to happen.
        complete: digest of the desired objects.
    """

    desired: tuple[Object, ...]
    live: Mapping[ObjectRef, Object]
    before: Inventory | None
    changes: tuple[Change, ...]
    complete: str

    @property
    def actions(self) -> dict[ObjectRef, Action]:
        """Return what has to happen to each object."""
        return {change.ref: change.action for change in self.changes}

    @property
    def finished(self) -> bool:
        """Tell whether the last install of exactly these objects ended well and nothing has drifted since."""
        return (
            self.before is not None
            and self.before.complete == self.complete
            and all(change.action is Action.UNCHANGED for change in self.changes)
        )


def install_component(run: Run, item: Rendered, key: str, known: State | None = None) -> Outcome:
    """Bring one component to what was rendered; where it is so already, nothing is written.

    Args:
        run: the run.
        item: the component.
        key: the step that is told of the progress.
        known: how it is, where that was read just now and nothing has been written since.

    Raises:
        RefusalError: its inventory cannot be trusted, or an object has become somebody else's since all components
            were compared.
        ApplyError: the apiserver refused an object.
        NotReadyError: something did not become ready in time.
    """
    state = known or compare(run, item)
    if going := departing(state.desired, state.live):
        wait_departed(run, key, going)
        state = compare(run, item)
    told = state.before is not None and state.before.removal == item.removal
    if state.finished and told and all(assess(state.live[ref_of(obj)], run.rules).current for obj in state.desired):
        return Outcome(item.name, state.changes)
    gone = prune_set(item.name, {ref_of(obj) for obj in state.desired}, state.live, inventory=state.before is not None)
    gone = tuple(ref for ref in gone if ref not in run.moved)
    _refuse_strangers(run, item, state)
    _begin(run, item, state)
    _apply_waves(run, item, state, key)
    before = state.before.removal if state.before is not None and state.before.removal is not None else NO_RULES
    kept = prune(run, item.name, gone, state.live, merged([item.removal, before]))
    _finish(run, item, state, kept)
    return Outcome(item.name, state.changes)


def compare(run: Run, item: Rendered) -> State:
    """Read a component's inventory and live objects, and compare them with what was rendered."""
    desired = prepared(item)
    before = members.read(run.session, item.name)
    versions = {ref_of(obj).group_kind: text(obj, "apiVersion").rpartition("/")[2] for obj in desired}
    group_kinds = union(versions, before.group_kinds if before else ())
    live = members.live(run.session, item.name, group_kinds, versions)
    for obj in desired:
        ref = ref_of(obj)
        if ref not in live and (ref in run.adopted or ref in run.moved):
            theirs = run.session.get(ref)
            live |= {ref: theirs} if theirs is not None else {}
    state = state_of(desired, before, live, cache(partial(definition_of, run.session)))
    return recreated(state, run.recreate)


def prepared(item: Rendered) -> tuple[Object, ...]:
    """Return a component's objects as they are sent; CatalogError where one comes twice."""
    desired = tuple(prepare(obj, applyset_id(item.name)) for obj in item.objects)
    _refuse_doubles(item, desired)
    return desired


def state_of(
    desired: tuple[Object, ...],
    before: Inventory | None,
    live: Mapping[ObjectRef, Object],
    definitions: Definitions = no_definitions,
) -> State:
    """Compare a component's objects with those that live.

    Args:
        desired: as they are sent.
        before: the component's inventory.
        live: the objects.
        definitions: gives a custom kind's definition.
    """
    sent = tuple(with_replicas(obj, live.get(ref_of(obj))) for obj in desired)
    return State(sent, live, before, changes(sent, live, definitions), complete_digest(sent))


def recreated(state: State, refs: Collection[ObjectRef]) -> State:
    """Return the same state, where the objects of `refs` are created again instead of changed."""
    return replace(state, changes=recreating(state.changes, refs))


def _refuse_doubles(item: Rendered, desired: Sequence[Object]) -> None:
    seen: set[ObjectRef] = set()
    for obj in desired:
        if ref_of(obj) in seen:
            raise CatalogError(
                f"component {item.name}", f"rendered {ref_of(obj)} twice", f"check overlays/{item.target}/{item.name}"
            )
        seen.add(ref_of(obj))


def _refuse_strangers(run: Run, item: Rendered, state: State) -> None:
    """Look once more, now that it is the component's turn: the others may have taken minutes."""
    new = {change.ref for change in state.changes if change.action is Action.CREATE}
    wanted = {ref_of(obj): (item.name, obj) for obj in state.desired if ref_of(obj) in new}
    if found := strangers(run.session, wanted):
        raise refusal(run.session.server, found, f"nothing of {item.name} was written")


def _begin(run: Run, item: Rendered, state: State) -> None:
    """Write the inventory before the first object: whatever is applied, it can be found again."""
    refs = {ref_of(obj) for obj in state.desired}
    before = state.before
    group_kinds = union((ref.group_kind for ref in refs), before.group_kinds if before else ())
    namespaces = frozenset(ref.namespace for ref in refs) | (before.namespaces if before else frozenset())
    members.write(run.session, replace(_inventory(run, item, state), group_kinds=group_kinds, namespaces=namespaces))


def _finish(run: Run, item: Rendered, state: State, kept: set[ObjectRef]) -> None:
    """Write the exact inventory."""
    refs = {ref_of(obj) for obj in state.desired} | kept
    exact = replace(
        _inventory(run, item, state),
        group_kinds=frozenset(ref.group_kind for ref in refs),
        namespaces=frozenset(ref.namespace for ref in refs),
        complete=state.complete,
    )
    members.write(run.session, exact)


def _inventory(run: Run, item: Rendered, state: State) -> Inventory:
    """Return the inventory of the desired objects alone, not complete."""
    refs = frozenset(ref_of(obj) for obj in state.desired)
    known = {**(state.before.adopted if state.before else {}), **run.adopted}
    adopted = {ref: owner for ref, owner in sorted(known.items()) if ref in refs}
    return Inventory(
        component=item.name,
        version=item.version,
        target=item.target,
        cluster=run.session.cluster_id,
        group_kinds=frozenset(ref.group_kind for ref in refs),
        namespaces=frozenset(ref.namespace for ref in refs),
        objects=refs,
        requires=item.component.requires,
        rules=item.rules,
        adopted=adopted,
        removal=item.removal,
    )


def _apply_waves(run: Run, item: Rendered, state: State, key: str) -> None:
    """Apply wave by wave; each is ready before the next begins."""
    waiting_workloads: list[Object] = []
    plan = waves(state.desired)
    for wave in plan:
        run.check()
        if wave.stage is Stage.WORKLOADS:
            waiting_workloads = _start_workloads(run, item, wave, state, key)
            if not _needs_configuration(plan):
                _wait(run, item, waiting_workloads, key)
                waiting_workloads = []
        elif wave.stage is Stage.EXTENSIONS:
            _extend(run, item, wave, state, key, waiting_workloads)
            waiting_workloads = []
        else:
            if wave.stage is Stage.RESOURCES:
                _converted(run, plan, key)
            _wait(run, item, _apply(run, wave.objects, state, key), key)
            if wave.stage is Stage.OPERATORS:
                wait_served(run, key, {ref_of(obj).group_kind for obj in state.desired})
    _wait(run, item, waiting_workloads, key)


def _apply(run: Run, objects: Sequence[Object], state: State, key: str) -> list[Object]:
    """Apply what has drifted; return all as they are now."""
    live = []
    actions = state.actions
    for obj in objects:
        run.check()
        known = state.live.get(ref_of(obj))
        what = actions[ref_of(obj)]
        if known is not None and what is Action.UNCHANGED:
            live.append(known)
        else:
            if known is not None and what is Action.ADOPT:
                _hand_over(run, obj, known)
            if known is not None and what is Action.RECREATE:
                _make_room(run, known, key)
            live.append(run.session.apply(obj))
        if ref_of(obj).group_kind == kinds.CRD:
            run.session.discovery.learn(obj)
    return live


def _make_room(run: Run, live: Object, key: str) -> None:
    """Delete an object that is to be created again, with all that it owns."""
    ref = ref_of(live)
    run.emit(Note(f"{ref} is deleted and created again: {failed_job(live) or run.recreate[ref]}"))
    run.session.delete(ref, uid=text(live, "metadata", "uid"), foreground=True)
    wait_departed(run, key, {ref: live})


def _hand_over(run: Run, obj: Object, theirs: Object) -> None:
    """Make the fields of the former owner ours, so that the apply takes away those that we do not have."""
    managed = handed_over(theirs, text(obj, "apiVersion"))
    if managed is not None:
        version = text(theirs, "metadata", "resourceVersion")
        run.session.patch(ref_of(obj), {"metadata": {"resourceVersion": version, "managedFields": managed}})


def _start_workloads(run: Run, item: Rendered, wave: Wave, state: State, key: str) -> list[Object]:
    """Apply workloads and wait until their pods exist; no other component's webhook comes up meanwhile."""
    if not _changing(wave, state):
        return [state.live[ref_of(obj)] for obj in wave.objects]
    with run.gate.shared(run.check):
        live = _apply(run, wave.objects, state, key)
        wait_ready(run, key, live, _exists, selector=members.selector(item.name))
    return live


def _extend(
    run: Run,
    item: Rendered,
    wave: Wave,
    state: State,
    key: str,
    workloads: Sequence[Object],
) -> None:
    """Apply webhook configurations and the like, and wait until what they name answers."""
    candidates = [obj for each in waves(state.desired) if each.stage is Stage.RESOURCES for obj in each.objects]
    with _room(run, wave, state):
        live = _apply(run, wave.objects, state, key)
        _wait(run, item, workloads, key)
        _wait(run, item, live, key)
        owners = [ref_of(obj) for obj in wave.objects if ref_of(obj).group_kind in kinds.WEBHOOK_CONFIGURATIONS]
        wait_answering(run, key, owners, candidates)


def _converted(run: Run, plan: Sequence[Wave], key: str) -> None:
    """Wait until the conversions of the component's own CRDs answer."""
    definitions = [obj for wave in plan if wave.stage is Stage.DEFINITIONS for obj in wave.objects]
    wait_answering(run, key, {hook.owner for hook in hooks(definitions)}, ())


def _room(run: Run, wave: Wave, state: State) -> AbstractContextManager[None]:
    """Return what to hold while `wave` comes up: the gate alone, if its webhooks hold others up."""
    if _changing(wave, state) and any(holds_up_others(hook) for hook in hooks(wave.objects)):
        return run.gate.alone(run.check)
    return nullcontext()


def _needs_configuration(plan: Sequence[Wave]) -> bool:
    """Tell whether a workload fills in its own configurations, and may be ready only once they are there."""
    extensions = [obj for wave in plan if wave.stage is Stage.EXTENSIONS for obj in wave.objects]
    return any(not hook.injected and not hook.endpoint.ca_bundle for hook in hooks(extensions))


def _changing(wave: Wave, state: State) -> bool:
    actions = state.actions
    return any(actions[ref_of(obj)] is not Action.UNCHANGED for obj in wave.objects)


def _wait(run: Run, item: Rendered, live: Sequence[Object], key: str) -> None:
    wait_ready(run, key, live, lambda obj: assess(obj, run.rules), selector=members.selector(item.name))


def _exists(obj: Object) -> Readiness:
    if pods_exist(obj):
        return CURRENT
    # A reason that says more than "not yet" (a webhook refused the pod) comes with the assessment.
    state = assess(obj)
    return replace(state, status=Status.IN_PROGRESS) if state.current else state
