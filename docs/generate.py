"""`python -m docs.generate`: write the reference pages anew from the code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path

from docs.generators import before, cli, components, exit_codes, rooms, schema, targets, values

DOCS = Path(__file__).resolve().parent


def _cli() -> str:
    return cli.render(import_module("modelyard.cli").main, "modelyard")


PAGES: Mapping[str, Callable[[], str]] = {
    "reference/cli.md": _cli,
    "reference/component.md": lambda: schema.render(schema.COMPONENT),
    "reference/components.md": lambda: components.render(DOCS.parent),
    "reference/exit-codes.md": exit_codes.render,
    "reference/rooms.md": rooms.render,
    "reference/target.md": lambda: schema.render(schema.TARGET),
    "reference/targets.md": lambda: targets.render(DOCS.parent),
    "reference/upstream-lock.md": lambda: schema.render(schema.LOCK),
    **{
        f"{values.FOLDER}/{folder.name}.json": partial(values.render, DOCS.parent, folder.name)
        for folder in sorted(path.parent for path in DOCS.parent.glob("overlays/*/values.yaml"))
    },
    **{f"{before.FOLDER}/{name}.md": partial(before.render, DOCS.parent, name) for name in before.names(DOCS.parent)},
}


def main() -> None:
    """Write every page; print the names of those that changed."""
    for name, render in PAGES.items():
        path, text = DOCS / name, render()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"docs/{name}")


if __name__ == "__main__":
    main()
