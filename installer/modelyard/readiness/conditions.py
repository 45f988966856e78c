"""Conditions of a status, and the rules that hold for every kind.

Source: kubernetes-sigs/cli-utils, pkg/kstatus/status/generic.go.
"""

from __future__ import annotations

from modelyard.objects import Object, dig, mappings, number, text
from modelyard.readiness.status import CURRENT, Readiness, failed, in_progress


def condition(obj: Object, name: str) -> Object:
    """Return the condition of type `name`, or an empty mapping."""
    for found in mappings(obj, "status", "conditions"):
        if found.get("type") == name:
            return found
    return {}


def describe(found: Object) -> str:
    """Return a condition's reason and message, as far as it has them."""
    parts = [text(found, "reason"), text(found, "message")]
    return ": ".join(part for part in parts if part)


def unobserved(obj: Object) -> Readiness | None:
    """Return InProgress while the object is going, or its controller has not seen its last change."""
    if dig(obj, "metadata", "deletionTimestamp") is not None:
        return in_progress("is being deleted")
    observed = dig(obj, "status", "observedGeneration")
    if isinstance(observed, int) and observed != number(obj, "metadata", "generation", default=observed):
        return in_progress("its controller has not seen the last change yet")
    return None


def generic(obj: Object) -> Readiness:
    """Judge a kind without rules of its own: Stalled, Reconciling, Ready; without them it is Current."""
    stalled, reconciling = condition(obj, "Stalled"), condition(obj, "Reconciling")
    if stalled.get("status") == "True":
        return failed(describe(stalled) or "stalled")
    if reconciling.get("status") == "True":
        return in_progress(describe(reconciling) or "reconciling")
    ready = condition(obj, "Ready")
    if not ready or ready.get("status") == "True":
        return CURRENT
    return in_progress(describe(ready) or f"Ready is {ready.get('status')}")
