"""A user's own overlay: a target outside of the catalogue, on top of one of its targets.

DIR/target.yaml says which target it is on (`base`) and lists components by profile; DIR/kustomization.yaml names one
folder for each of them, in DIR or in the catalogue. modelyard renders each component alone, so DIR/kustomization.yaml
may do nothing but list them: then `kustomize build DIR` gives the same objects (docs/adr/0005-user-overlays.md).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from modelyard.catalog.document import line_of, read_model
from modelyard.catalog.models import Target
from modelyard.catalog.names import nearest
from modelyard.catalog.yaml_file import Loader, load_one, read_text
from modelyard.errors import CatalogError

FILE = "kustomization.yaml"
# What else kustomize knows would be lost where each component is rendered alone.
_FIELDS = ("apiVersion", "kind", "metadata", "resources")


@dataclass(frozen=True, slots=True)
class UserOverlay:
    """A user's overlay as read.

    Args:
        folder: where it is.
        target: its target.yaml.
        folders: each component's kustomization folder.
    """

    folder: Path
    target: Target
    folders: Mapping[str, Path]


def read_overlay(folder: Path, components: Mapping[str, object]) -> UserOverlay:
    """Read a user's overlay; whether its components and its base exist is the catalogue's to check.

    Args:
        folder: the overlay.
        components: the catalogue's components by name.

    Raises:
        CatalogError: a file is missing or malformed, kustomization.yaml does more than list folders of
            components, or target.yaml names no base.
    """
    folder = folder.absolute()
    if not folder.is_dir():
        raise CatalogError(f"overlay {folder}", "is not a folder", f"modelyard new overlay {folder}")
    folder = folder.resolve()  # as kustomize does: `..` goes up from where the folder really is
    shown = f"{folder.name}/target.yaml"
    target = read_model(folder / "target.yaml", Target, shown=shown)
    if target.base is None:
        raise CatalogError(shown, "field base: Field required", "name the target of modelyard that it is on top of")
    return UserOverlay(folder, target, _folders(folder, components))


def _folders(folder: Path, components: Mapping[str, object]) -> dict[str, Path]:
    shown = f"{folder.name}/{FILE}"
    text = read_text(folder / FILE, shown)
    content = load_one(text, shown)
    node = yaml.compose(text, Loader=Loader)
    if not isinstance(content, dict):
        raise CatalogError(shown, "is not a kustomization", f"edit {shown}")
    for field in content:
        if field not in _FIELDS:
            raise CatalogError(
                f"{shown}, line {line_of(node, (field,))}",
                f"field {field}: each component is rendered alone, so this file may only list their folders",
                f"put it into <component>/{FILE}, for the component that it is about",
            )
    found: dict[str, Path] = {}
    for position, entry in enumerate(content.get("resources") or ()):
        where = f"{shown}, line {line_of(node, ('resources', position))}"
        name = _component(entry, folder, components, where)
        if name in found:
            raise CatalogError(where, f"component {name} is there twice", f"edit {shown}")
        found[name] = Path(os.path.normpath(folder / str(entry)))
    return found


def _component(entry: object, folder: Path, components: Mapping[str, object], where: str) -> str:
    """Return which component an entry of `resources` is: the last part of its path."""
    name = Path(str(entry)).name
    if not isinstance(entry, str) or not (folder / entry).is_dir():
        remedy = (
            "name a folder for each component; where the target has none of its own, that of its base or manifests/"
        )
        raise CatalogError(where, f"names {entry}, which is not a folder", remedy)
    if name not in components:
        raise CatalogError(
            where,
            f"names {entry}, and there is no component {name}" + nearest(name, components),
            "call the folder as the component",
        )
    return name
