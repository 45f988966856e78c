"""What is installed, and is it ready? Asked of the cluster alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime

from modelyard.apply import members
from modelyard.cluster import Session, workload_trouble
from modelyard.objects import Object, ObjectRef
from modelyard.plan.inventory import Inventory
from modelyard.readiness import Readiness, Rules, assess, missing, rules_from
from modelyard.readiness.replicas import ago, scaled_down

WORKERS = 8


@dataclass(frozen=True, slots=True)
class ComponentStatus:
    """One component: its version, whether all of it is ready, and if not, why not."""

    name: str
    version: str
    ready: bool
    reason: str
    objects: int


def status(session: Session) -> tuple[ComponentStatus, ...]:
    """Return the state of every installed component, by name.

    Raises:
        ClusterUnreachableError: nobody answers.
        RefusalError: an inventory cannot be trusted.
    """
    found = members.read_all(session)
    rules = rules_from(entry for item in found.values() for entry in item.rules)
    with ThreadPoolExecutor(WORKERS) as pool:
        return tuple(pool.map(lambda item: _one(session, item, rules), found.values()))


def _one(session: Session, item: Inventory, rules: Rules) -> ComponentStatus:
    live = members.live(session, item.component, item.group_kinds, {})
    unready = judge(item.objects, live, rules)
    reason = ""
    if unready:
        ref, state = unready[0]
        obj = live.get(ref)
        trouble = workload_trouble(session, obj) if obj is not None else ""
        state_of = f"{state.reason}{_way_on(item.component, obj)}"
        more = f" (and {len(unready) - 1} more)" if len(unready) > 1 else ""
        reason = ": ".join(part for part in (str(ref), state_of, trouble) if part) + more
    elif not item.complete:
        reason = "its install has not ended; `modelyard install` goes on where it was"
    return ComponentStatus(item.component, item.version, not reason, reason, len(item.objects))


def _way_on(component: str, obj: Object | None) -> str:
    """Return since when a workload is scaled to zero, and the command that brings it back; empty for all others."""
    writer = scaled_down(obj) if obj is not None else None
    if writer is None:
        return ""
    return f"{ago(writer, datetime.now(UTC))}. Fix: modelyard install --component {component}"


def judge(
    wanted: frozenset[ObjectRef], live: Mapping[ObjectRef, Object], rules: Rules
) -> Sequence[tuple[ObjectRef, Readiness]]:
    """Return the wanted objects that are not ready, those that failed first, with their state. Pure."""
    states = [(ref, assess(live[ref], rules) if ref in live else missing()) for ref in sorted(wanted)]
    return sorted(
        (pair for pair in states if not pair[1].current), key=lambda pair: (pair[1].status != "Failed", pair[0])
    )
