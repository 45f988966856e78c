"""An object's conditions."""

from __future__ import annotations

from modelyard.objects import Object, mappings, text


def condition(obj: Object, kind: str) -> Object:
    """Return the condition of that type; an empty one where it was never set."""
    return next((each for each in mappings(obj, "status", "conditions") if text(each, "type") == kind), {})


def is_true(obj: Object, kind: str) -> bool:
    """Tell whether a condition holds."""
    return text(condition(obj, kind), "status") == "True"


def summary(obj: Object) -> str:
    """Return all conditions in one line."""
    return ", ".join(
        f"{text(each, 'type')}={text(each, 'status')} ({text(each, 'reason')}: {text(each, 'message')})"
        for each in mappings(obj, "status", "conditions")
    )
