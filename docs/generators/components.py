"""docs/reference/components.md, from the catalogue."""

from __future__ import annotations

from pathlib import Path

from docs.generators.markdown import code, page, table
from modelyard.catalog import Catalog, Component, load


def render(root: Path) -> str:
    """Return the page about every component below `root`, in the order of the requires graph."""
    catalog = load(root)
    rows = [_row(catalog, catalog.component(name)) for name in catalog.select(sorted(catalog.components))]
    return page(
        "Components",
        "In the order in which they are installed: each comes after what it requires, and those that do not depend "
        "on each other go in parallel.",
        table(("component", "version", "what it is for", "requires", "namespace"), rows),
        "Which target has which: [targets](targets.md).",
    )


def _row(catalog: Catalog, component: Component) -> tuple[str, ...]:
    folder = f"manifests/{component.area}/{component.name}"
    return (
        f"[{component.name}](../../{folder})",
        catalog.version(component.name),
        component.summary,
        ", ".join(component.requires),
        code(component.namespace or ""),
    )
