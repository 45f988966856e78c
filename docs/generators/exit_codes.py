"""docs/reference/exit-codes.md, from modelyard.errors."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from docs.generators.markdown import code, page, table
from modelyard.errors import ModelyardError

# What no class of ours stands for.
OUTSIDE = (
    (0, "", "All went well."),
    (2, "", "The command line is wrong: an unknown command or option, a value that does not fit."),
    (130, "", "Ctrl-C."),
)


def render() -> str:
    """Return the page."""
    own = ((kind.exit_code, kind.__name__, _summary(kind)) for kind in _tree(ModelyardError))
    rows = sorted([*OUTSIDE, *own])
    return page(
        "Exit codes",
        "Every error names its object, its cause and the next command to type. "
        "[Troubleshooting](../troubleshooting.md) lists messages.",
        table(("code", "error", "meaning"), [(str(number), code(name), text) for number, name, text in rows]),
    )


def _tree(kind: type[ModelyardError]) -> Iterator[type[ModelyardError]]:
    yield kind
    for child in kind.__subclasses__():
        # Only errors.py's own: what another module refines exits alike, or as OUTSIDE says, and whether it is
        # known here would depend on what has been imported.
        if child.__module__ == kind.__module__ and child.exit_code != kind.exit_code:
            yield from _tree(child)


def _summary(kind: type[ModelyardError]) -> str:
    if kind is ModelyardError:
        return "Another error; also: `local status`, something is not well."
    return (inspect.getdoc(kind) or "").splitlines()[0]
