"""Which fields of a live object an install would change, for people. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from modelyard.objects import Object, mapping, ref_of, text
from modelyard.plan import kinds
from modelyard.plan.desired import DIGEST
from modelyard.plan.drift import contained, no_definitions
from modelyard.plan.inventory import PART_OF_LABEL
from modelyard.plan.quantities import ITEM, Path, is_quantity

_LONGEST = 32  # characters of a value
_NAMED = 3  # fields in a summary
_OURS = {"labels": PART_OF_LABEL, "annotations": DIGEST}
_MISSING = object()


def differences(desired: Object, live: Object) -> tuple[str, ...]:
    """Return the fields that `desired` says and `live` does not, each as "path: live -> desired", in order.

    The label and the annotation that every object of ours gets are left out, and the values of Secrets.
    """
    secret = ref_of(desired).group_kind == kinds.SECRET
    found = []
    kind, version = ref_of(desired).group_kind, text(desired, "apiVersion").rpartition("/")[2]

    def quantity(path: Path) -> bool:
        return is_quantity(kind, version, path, no_definitions)

    for path, wanted, is_now in _walk("", (), _without_ours(desired), live, quantity):
        found.append(path if secret else f"{path}: {_short(is_now)} -> {_short(wanted)}")
    return tuple(found)


def _without_ours(desired: Object) -> Object:
    metadata = dict(mapping(desired, "metadata"))
    for field, ours in _OURS.items():
        metadata[field] = {key: value for key, value in mapping(metadata, field).items() if key != ours}
    return {**desired, "metadata": metadata}


def summary(fields: Sequence[str], *, limit: int = _NAMED) -> str:
    """Return differences in one line: the first ones, and how many more there are."""
    if not fields:
        return "only modelyard's label and annotation"
    more = f"; {len(fields) - limit} more" if len(fields) > limit else ""
    return "; ".join(fields[:limit]) + more


def _walk(
    path: str, keys: Path, desired: object, live: object, quantity: Callable[[Path], bool]
) -> Iterator[tuple[str, object, object]]:
    if isinstance(desired, Mapping) and isinstance(live, Mapping):
        for key, value in desired.items():
            if not path and key in ("apiVersion", "kind"):
                continue
            yield from _walk(_key(path, str(key)), (*keys, str(key)), value, live.get(key, _MISSING), quantity)
    elif _named(desired) and _named(live):
        there = {text(item, "name"): item for item in _items(live)}
        for item in _items(desired):
            theirs = there.get(text(item, "name"), _MISSING)
            yield from _walk(f"{path}[{text(item, 'name')}]", (*keys, ITEM), item, theirs, quantity)
        for name in there.keys() - {text(item, "name") for item in _items(desired)}:
            yield f"{path}[{name}]", _MISSING, there[name]
    elif not contained(desired, None if live is _MISSING else live, lambda below: quantity((*keys, *below))):
        yield path, desired, live


def _key(path: str, key: str) -> str:
    if "." in key or "/" in key:
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def _named(value: object) -> bool:
    """Tell whether `value` is a list of mappings, each with a name of its own."""
    items = _items(value)
    names = {text(item, "name") for item in items}
    return bool(items) and "" not in names and len(names) == len(items)


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _short(value: object) -> str:
    if value is _MISSING or value is None:
        return "(none)"
    shown = value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
    shown = json.dumps(shown)[1:-1] if isinstance(value, str) else shown  # no line breaks, no control characters
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
