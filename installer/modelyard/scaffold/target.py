"""A new target, thin on one that is there: in the catalogue, or as a user's own overlay outside of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from modelyard.catalog import Catalog
from modelyard.scaffold.draft import Draft, kustomization
from modelyard.scaffold.names import check_name

_DIFFERS = """\
What differs here goes into a folder of the component's name, whose kustomization.yaml names the one above and has
`patches:`; then the entry above is that folder."""
_HEAD = "name: {name}\nsummary: {base}, with what differs at our site\nbase: {base}\n"
_COMMENT = "What differs from {base}: `patches:` that change what comes from there."


def new_target(catalog: Catalog, name: str, base: str) -> Draft:
    """Return a target of the catalogue that is as `base` in all.

    Args:
        catalog: the catalogue that it becomes part of.
        name: its name.
        base: the target that it is on.

    Raises:
        CatalogError: there is no such base, the name is none, or is taken.
    """
    check_name("target", name, catalog.targets)
    folder = catalog.root / "overlays" / name
    entries = [_below(catalog, base, each, folder) for each in catalog.everything(base)]
    return Draft(
        {
            folder: {
                "target.yaml": _HEAD.format(name=name, base=base),
                "kustomization.yaml": kustomization(*entries, comment=_DIFFERS),
            }
        }
    )


def new_overlay(catalog: Catalog, folder: Path, base: str, components: Sequence[str] = ()) -> Draft:
    """Return a user's own overlay that is as `base` in all.

    Args:
        catalog: the catalogue; the overlay's paths lead to where it is now.
        folder: the overlay's folder; its last part becomes the target's name.
        base: the target that it is on.
        components: those that get a folder of their own, for what is to differ there.

    Raises:
        CatalogError: there is no such base, it lacks one of the components, or the folder's name is none or taken.
    """
    folder = folder.absolute()
    folder = folder.parent.resolve() / folder.name
    check_name("overlay", folder.name, catalog.targets)
    everything = catalog.everything(base)
    for each in components:
        catalog.folder(base, each)
    entries = [each if each in components else _below(catalog, base, each, folder) for each in everything]
    files = {"target.yaml": _target(catalog, folder.name, base), "kustomization.yaml": kustomization(*entries)}
    files |= {
        f"{each}/kustomization.yaml": kustomization(
            _below(catalog, base, each, folder / each), comment=_COMMENT.format(base=base)
        )
        for each in components
    }
    return Draft({folder: files})


def _below(catalog: Catalog, base: str, component: str, folder: Path) -> str:
    """Return the path from `folder` to where `base` has a component: its own folder, or that of the target below it."""
    return os.path.relpath(catalog.folder(base, component), folder)


def _target(catalog: Catalog, name: str, base: str) -> str:
    profiles = catalog.target(base).profiles.items()
    lines = "".join(f"  {profile}: [{', '.join(names)}]\n" for profile, names in profiles)
    return f"{_HEAD.format(name=name, base=base)}profiles:\n{lines}"
