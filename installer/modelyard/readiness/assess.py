"""Object -> Current, InProgress or Failed, with the exact reason. Pure."""

from __future__ import annotations

from modelyard.objects import Object, ref_of
from modelyard.readiness import others, workloads
from modelyard.readiness.conditions import condition, describe, generic, unobserved
from modelyard.readiness.expressions import Rules, evaluate
from modelyard.readiness.replicas import scaled_down
from modelyard.readiness.status import Readiness, in_progress

_RULES = workloads.RULES | others.RULES


def assess(obj: Object, rules: Rules | None = None) -> Readiness:
    """Judge one live object.

    Args:
        obj: the object as the apiserver returned it.
        rules: CEL expressions by kind; they win over the kstatus rules.
    """
    if (writer := scaled_down(obj)) is not None:
        return in_progress("0 of 0 replicas; scaled down" + (f" by {writer.manager}" if writer.manager else ""))
    early = unobserved(obj)
    if early is not None:
        return early
    ref = ref_of(obj)
    if rules and ref.group_kind in rules:
        result = evaluate(obj, rules[ref.group_kind])
        return result if result.current else _with_condition(obj, result)
    return _RULES.get(ref.group_kind, generic)(obj)


def _with_condition(obj: Object, result: Readiness) -> Readiness:
    """Prefer what the object says of itself over the text of an expression."""
    ready = condition(obj, "Ready")
    said = describe(ready) if ready.get("status") != "True" else ""
    return Readiness(result.status, said) if said else result


def missing() -> Readiness:
    """Return the state of an object that should be there and is not."""
    return in_progress("is not there")
