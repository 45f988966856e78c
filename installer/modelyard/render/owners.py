"""No two components may have one object: each would undo the other's changes, and prune the other's object. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from modelyard.errors import CatalogError
from modelyard.objects import Object, ObjectRef, ref_of


def refuse_shared(components: Mapping[str, Iterable[Object]]) -> None:
    """Check that each object is of one component only, before any of them is applied.

    Raises:
        CatalogError: names the object and both components.
    """
    owners: dict[ObjectRef, str] = {}
    for name, objects in components.items():
        for ref in sorted({ref_of(obj) for obj in objects}):
            other = owners.setdefault(ref, name)
            if other != name:
                raise CatalogError(
                    str(ref),
                    f"components {other} and {name} both have it: each would undo what the other does",
                    f"take it out of one of them, for {name} by a patch with `$patch: delete` in its kustomization",
                )
