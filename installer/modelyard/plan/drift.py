"""Does a live object still say what was applied? Pure.

Desired must be contained in live: what others add (defaults, injected fields, statuses) is theirs. Values
that the apiserver writes in another form count as equal where the field's meaning allows it: empty collections, and
quantities in the fields that hold quantities. Saying "drifted" for an object that has not costs one request that
changes nothing; the opposite would lose a repair.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from modelyard.objects import GroupKind, Object, annotations_of, dig, mapping, ref_of, text
from modelyard.plan.desired import DIGEST
from modelyard.plan.kinds import CRD
from modelyard.plan.quantities import ITEM, Definitions, Path, is_quantity
from modelyard.quantity import parse

# The way to a field, innermost first: most fields are equal, and then nobody needs it as a Path.
_Way: TypeAlias = "tuple[_Way, str] | None"


def no_definitions(kind: GroupKind) -> Object | None:
    """Know no custom kind."""
    return None


def drifted(desired: Object, live: Object, definitions: Definitions = no_definitions) -> bool:
    """Tell whether `live` must be written so that it says what `desired` does.

    Args:
        desired: as `desired.prepare` gives it.
        live: as the apiserver gives it.
        definitions: gives a custom kind's definition; asked only where two notations of one quantity meet.
    """
    if annotations_of(desired).get(DIGEST) != annotations_of(live).get(DIGEST):
        return True  # also finds fields that are no longer wanted: they are missing from desired only
    kind, version = ref_of(desired).group_kind, text(desired, "apiVersion").rpartition("/")[2]
    if kind == CRD and dig(desired, "spec", "versions") == dig(live, "spec", "versions"):
        desired = _without_versions(desired)  # megabytes of schemas, to which the apiserver adds nothing
    return not contained(desired, live, lambda path: is_quantity(kind, version, path, definitions))


def _without_versions(crd: Object) -> Object:
    return {**crd, "spec": {key: value for key, value in mapping(crd, "spec").items() if key != "versions"}}


def contained(desired: object, live: object, quantity: Callable[[Path], bool]) -> bool:
    """Tell whether all that `desired` says, `live` says too.

    Args:
        desired: a JSON value.
        live: a JSON value.
        quantity: tells which fields hold quantities.
    """
    return _contained(desired, live, None, quantity)


def _contained(desired: object, live: object, way: _Way, quantity: Callable[[Path], bool]) -> bool:
    if isinstance(desired, dict):
        if not desired:
            return live is None or isinstance(live, dict)
        return isinstance(live, dict) and all(
            _contained(value, live.get(key), (way, key), quantity) for key, value in desired.items()
        )
    if isinstance(desired, list):
        if not desired:
            return live is None or live == []
        return (
            isinstance(live, list)
            and len(live) == len(desired)
            and all(_contained(mine, theirs, (way, ITEM), quantity) for mine, theirs in zip(desired, live, strict=True))
        )
    if desired is None:  # a field that is asked to be absent
        return True
    if isinstance(desired, bool) or isinstance(live, bool):
        return desired is live or (desired is False and live is None)
    if desired == live:
        return True
    if live is None:
        return desired in ("", 0)
    return _same_amount(desired, live) and quantity(_path(way))


def _same_amount(one: object, other: object) -> bool:
    left, right = parse(one), parse(other)
    return left is not None and left == right


def _path(way: _Way) -> Path:
    keys: list[str] = []
    while way is not None:
        way, key = way
        keys.append(key)
    return tuple(reversed(keys))
