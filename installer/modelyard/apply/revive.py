"""Bring controllers back before what waits for them is deleted."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from modelyard.apply import members
from modelyard.apply.answering import wait_answering
from modelyard.apply.controllers import Controllers, fresh
from modelyard.apply.in_order import in_order
from modelyard.apply.run import Run
from modelyard.apply.wait import wait_ready
from modelyard.errors import ApplyError, NotReadyError
from modelyard.events import Note, StepDone, StepFailed, StepStarted
from modelyard.objects import Object, ObjectRef
from modelyard.plan import kinds, stuck
from modelyard.plan.hooks import holds_up_others, hooks
from modelyard.readiness import Readiness, Status, assess

# A controller starts within seconds; where its image has to be pulled, within a minute or two.
REVIVE_SECONDS = 120.0
KEY = "uninstall:controllers"


def revive(run: Run, controllers: Controllers, names: Sequence[str]) -> dict[str, str]:
    """Have the controllers of `names` at work; return those that do not come back, with the reason.

    Those whose webhooks hold up others' pods come first: the rest could not start without them.

    Args:
        run: the run; a controller is waited for until its timeout, two minutes at most.
        controllers: of all installed components.
        names: components.
    """
    live = fresh(run.session)
    idle = {name: found for name in names if (found := _workloads(controllers, live, name)) and not _at_work(found)}
    if not idle:
        return {}
    began = time.monotonic()
    run.emit(StepStarted(KEY, "bring controllers back"))
    bounded = replace(run, timeout=min(run.timeout, REVIVE_SECONDS))
    first = [name for name in idle if any(map(holds_up_others, hooks(controllers.members[name].values())))]
    dead: dict[str, str] = {}
    for wave in (first, [name for name in idle if name not in first]):
        reasons = in_order(
            run, dict.fromkeys(wave, ()), lambda name: (name, _one(bounded, controllers, name, idle[name]))
        )
        dead |= {name: reason for name, reason in reasons if reason}
    seconds = time.monotonic() - began
    for name, reason in sorted(dead.items()):
        run.emit(Note(f"{name}: its controller does not come back: {reason}"))
    if dead:
        run.emit(StepFailed(KEY, seconds, f"not at work: {', '.join(sorted(dead))}"))
    else:
        run.emit(StepDone(KEY, seconds, ", ".join(sorted(idle))))
    return dead


def _workloads(controllers: Controllers, live: Mapping[ObjectRef, Object], name: str) -> dict[ObjectRef, Object | None]:
    """Return a component's workloads; None for one that is gone."""
    return {ref: live.get(ref) for ref in [*controllers.workloads(name), *controllers.gone.get(name, ())]}


def _at_work(workloads: Mapping[ObjectRef, Object | None]) -> bool:
    return all(obj is not None and not stuck.is_at_zero(obj) and assess(obj).current for obj in workloads.values())


def _one(run: Run, controllers: Controllers, name: str, workloads: Mapping[ObjectRef, Object | None]) -> str:
    """Scale up, wait until ready and until its webhooks answer; return why not, or nothing."""
    try:
        there = [_scaled(run, name, ref, obj) for ref, obj in sorted(workloads.items())]
        wait_ready(run, KEY, there, _judge, selector=members.selector(name))
        owners = {hook.owner for hook in hooks(controllers.members[name].values())}
        wait_answering(run, KEY, [ref for ref in owners if ref.group_kind in kinds.WEBHOOK_CONFIGURATIONS], ())
    except (NotReadyError, ApplyError) as error:
        return f"{error.subject}: {error.cause}"
    return ""


def _scaled(run: Run, name: str, ref: ObjectRef, obj: Object | None) -> Object:
    """Return a workload with at least one replica."""
    if obj is None:
        raise NotReadyError(str(ref), "is not there")
    space = run.session.get(ObjectRef("", "Namespace", "", ref.namespace))
    for each, what in ((obj, "it"), (space or {}, "its namespace")):
        if stuck.is_going(each):
            raise NotReadyError(str(ref), f"{what} is being deleted")
    if not stuck.is_at_zero(obj):
        return obj
    run.emit(Note(f"{name}: {ref} was at 0 replicas; brought back, so that what waits for it can go"))
    return run.session.patch(ref, {"spec": {"replicas": 1}})


def _judge(obj: Object) -> Readiness:
    """Judge a workload; that it was given up before it was scaled says nothing of now."""
    state = assess(obj)
    return replace(state, status=Status.IN_PROGRESS) if state.status is Status.FAILED else state
