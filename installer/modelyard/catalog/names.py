"""Names that a user mistyped: the nearest one that exists."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from modelyard.errors import CatalogError


def nearest(name: str, known: Iterable[str]) -> str:
    """Return " (did you mean ...?)" for the known name most like `name`, or an empty string."""
    found = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.5)
    return f" (did you mean {found[0]}?)" if found else ""


def unknown(what: str, name: str, known: Iterable[str], *, where: str) -> CatalogError:
    """Return the error for a name that does not exist.

    Args:
        what: "component", "target", "profile".
        name: what was asked for.
        known: what there is.
        where: where they are, for people.
    """
    names = sorted(known)
    there = ", ".join(names) if names else "none"
    return CatalogError(
        f"{what} {name}",
        f"is not in {where}{nearest(name, names)}; there is: {there}",
        f"use one of the {what}s above",
    )
