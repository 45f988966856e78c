"""The `requires` graph: closure and order, with a cycle or a missing name shown as its path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from modelyard.catalog.names import nearest
from modelyard.errors import CatalogError

Requires = Mapping[str, Sequence[str]]


def check(requires: Requires) -> None:
    """Check that every required name exists and that nothing requires itself.

    Raises:
        CatalogError: with the path that leads to the missing name, or round the cycle.
    """
    for name in sorted(requires):
        for needed in sorted(requires[name]):
            if needed not in requires:
                raise CatalogError(
                    f"component {name}",
                    f"requires {name} -> {needed}, and there is no component {needed}" + nearest(needed, requires),
                    f"edit `requires` in {name}'s component.yaml",
                )
    try:
        TopologicalSorter(requires).prepare()
    except CycleError as error:
        path = _cycle_from_smallest(list(error.args[1]))
        raise CatalogError(
            f"component {path[0]}",
            f"requires itself: {' -> '.join(path)}",
            "take one of them out of the other's `requires`",
        ) from error


def closure(names: Iterable[str], requires: Requires) -> set[str]:
    """Return `names` and all that they require, directly or not."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(requires[name])
    return found


def order(names: Iterable[str], requires: Requires) -> tuple[str, ...]:
    """Return `names` so that each comes after all it requires; ties go by name.

    Requirements outside of `names` are passed over.
    """
    chosen = set(names)
    sorter: TopologicalSorter[str] = TopologicalSorter(
        {name: [needed for needed in requires[name] if needed in chosen] for name in chosen}
    )
    sorter.prepare()
    result: list[str] = []
    ready = sorted(sorter.get_ready())
    while ready:
        name = ready.pop(0)
        result.append(name)
        sorter.done(name)
        ready = sorted([*ready, *sorter.get_ready()])
    return tuple(result)


def _cycle_from_smallest(path: list[str]) -> list[str]:
    """Turn graphlib's path (dependency first) round, to start at the first name in the alphabet."""
    ring = list(reversed(path))[:-1]
    start = ring.index(min(ring))
    ring = ring[start:] + ring[:start]
    return [*ring, ring[0]]
