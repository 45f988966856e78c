"""Strings at a path of an object, where `*` is each key of a mapping or item of a list. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def strings_at(obj: object, path: str) -> Iterator[str]:
    """Yield the strings at `path` ("spec.allocations.*.podref"); nothing where a part of it is missing.

    Args:
        obj: an object.
        path: keys, with dots between them.
    """
    head, _, rest = path.partition(".")
    for value in _below(obj, head):
        if rest:
            yield from strings_at(value, rest)
        elif isinstance(value, str):
            yield value


def _below(obj: object, key: str) -> Iterator[object]:
    if isinstance(obj, Mapping):
        yield from obj.values() if key == "*" else ([obj[key]] if key in obj else ())
    elif key == "*" and isinstance(obj, Sequence) and not isinstance(obj, str):
        yield from obj
