"""Objects that are sound, with one thing broken: what a rule's own test is made of."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence

from modelyard.objects import Object

Rules = Mapping[str, Callable[[list[Object]], list[str]]]


def broken(sound: Sequence[Object], kind: str, path: str, value: object) -> list[Object]:
    """Return the objects with another value at `path` of the first one of a kind."""
    objects = copy.deepcopy(list(sound))
    put(next(obj for obj in objects if obj["kind"] == kind), path, value)
    return objects


def put(obj: object, path: str, value: object) -> None:
    """Set the value at a path of names and positions, as spec/containers/0/image."""
    *parents, last = path.split("/")
    for part in parents:
        obj = obj[int(part)] if isinstance(obj, list) else obj[part]  # type: ignore[index]
    if isinstance(obj, list):
        obj[int(last)] = value
    else:
        obj[last] = value  # type: ignore[index]
