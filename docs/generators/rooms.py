"""docs/reference/rooms.md: the packages of modelyard and which imports which, from the code."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import TopologicalSorter
from importlib import import_module

import grimp

from docs.generators.markdown import code, page, table

ROOT = "modelyard"
# Rooms that are buildings of their own.
INNER = {"platform": "The application layer", "local": "The embedded cluster"}


def render() -> str:
    """Return the page."""
    graph = grimp.build_graph(ROOT)
    rooms = _arrows(graph, ROOT)
    return page(
        "Rooms",
        "What `installer/modelyard` is made of, and what each part imports: parts further down only. `make lint` holds "
        "the order ([.importlinter](../../.importlinter)). How a command goes through them is in "
        "[architecture](../explanation/architecture.md).",
        table(("room", "what it is for", "imports"), [_row(room, to) for room, to in rooms.items()]),
        *(part for room, title in INNER.items() for part in _building(graph, room, title)),
    )


def _building(graph: grimp.ImportGraph, room: str, title: str) -> tuple[str, str]:
    rows = [_row(inner, to) for inner, to in _arrows(graph, f"{ROOT}.{room}").items()]
    return f"## {title}", table(("room", "what it is for", "imports"), rows)


def _row(room: str, imported: tuple[str, ...]) -> tuple[str, str, str]:
    return code(_short(room)), _purpose(room), ", ".join(code(_short(each)) for each in imported)


def _short(module: str) -> str:
    return module.removeprefix(f"{ROOT}.")


def _purpose(module: str) -> str:
    """Return the first line of the module's docstring."""
    return (import_module(module).__doc__ or "").strip().splitlines()[0]


def _arrows(graph: grimp.ImportGraph, parent: str) -> Mapping[str, tuple[str, ...]]:
    """Return each child of `parent` with those of its siblings that it imports; importers before imported."""
    children = sorted(child for child in graph.find_children(parent) if not child.endswith("__main__"))
    arrows = {
        one: tuple(
            other
            for other in children
            if other != one and graph.direct_import_exists(importer=one, imported=other, as_packages=True)
        )
        for one in children
    }
    order = reversed(list(TopologicalSorter(arrows).static_order()))
    return {room: arrows[room] for room in order}
