"""What was read or found once is not read or found again: targets share most of their objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from modelyard.objects import Object
from modelyard.render.cache import Cache

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RememberingCache(Cache):
    """A cache of renders whose objects are parsed once a process: one content, the same objects.

    No test may change them.
    """

    _kept: dict[str, list[dict[str, object]]] = field(default_factory=dict)

    def objects(self, key: str) -> list[dict[str, object]] | None:
        """Return a component's objects, or None where they are not there or damaged."""
        if key not in self._kept:
            found = Cache.objects(self, key)
            if found is None:
                return None
            self._kept[key] = found
        return self._kept[key]


def once_an_object(judge: Callable[[Object], T]) -> Callable[[Object], T]:
    """Ask `judge` once about each object that is there; an object is known by its identity, and kept."""
    answers: dict[int, tuple[Object, T]] = {}

    def answer(obj: Object) -> T:
        if id(obj) not in answers:
            answers[id(obj)] = (obj, judge(obj))
        return answers[id(obj)][1]

    return answer
