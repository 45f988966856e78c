"""Does a live object still say what was applied? Pure.

Desired must be contained in live: what others add (defaults, injected fields, statuses) is theirs. Values
that the apiserver writes in another form (quantities, empty collections) count as equal. Saying "drifted"
for an object that has not costs one request that changes nothing; the opposite would lose a repair.
"""

from __future__ import annotations

from modelyard.objects import Object, annotations_of
from modelyard.plan.desired import DIGEST
from modelyard.quantity import parse


def drifted(desired: Object, live: Object) -> bool:
    """Tell whether `live` must be written so that it says what `desired` does.

    Args:
        desired: as `desired.prepare` gives it.
        live: as the apiserver gives it.
    """
    if annotations_of(desired).get(DIGEST) != annotations_of(live).get(DIGEST):
        return True  # also finds fields that are no longer wanted: they are missing from desired only
    return not contained(desired, live)


def contained(desired: object, live: object) -> bool:
    """Tell whether all that `desired` says, `live` says too."""
    if isinstance(desired, dict):
        if not desired:
            return live is None or isinstance(live, dict)
        return isinstance(live, dict) and all(contained(value, live.get(key)) for key, value in desired.items())
    if isinstance(desired, list):
        if not desired:
            return not live
        return (
            isinstance(live, list)
            and len(live) == len(desired)
            and all(contained(mine, theirs) for mine, theirs in zip(desired, live, strict=True))
        )
    if desired is None:  # a field that is asked to be absent
        return True
    if isinstance(desired, bool) or isinstance(live, bool):
        return desired is live or (desired is False and live is None)
    if desired == live:
        return True
    if live is None:
        return desired in ("", 0)
    return _same_quantity(desired, live)


def _same_quantity(one: object, other: object) -> bool:
    left, right = parse(one), parse(other)
    return left is not None and left == right
