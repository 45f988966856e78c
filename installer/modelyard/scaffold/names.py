"""Names that are free and may be used."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import TypeAdapter, ValidationError

from modelyard.catalog.fields import Name
from modelyard.errors import CatalogError

_NAME: TypeAdapter[str] = TypeAdapter(Name)


def check_name(what: str, name: str, taken: Collection[str]) -> None:
    """Check a new name.

    Args:
        what: "component", "target", "overlay".
        name: the name.
        taken: names that are in use.

    Raises:
        CatalogError: it is no name (a DNS label, as it becomes part of Kubernetes names), or it is taken.
    """
    try:
        _NAME.validate_python(name)
    except ValidationError as error:
        raise CatalogError(
            f"{what} {name!r}",
            "is not a valid name: up to 63 lower-case letters, digits and `-`, with a letter or digit at both ends",
            "take another name",
        ) from error
    if name in taken:
        raise CatalogError(f"{what} {name}", "is there already; nothing was changed", "take another name")
