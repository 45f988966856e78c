"""values.yaml: what a target sets by default, and what a site sets in its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from modelyard.catalog.document import line_of
from modelyard.catalog.models import Component, Target
from modelyard.catalog.names import nearest
from modelyard.catalog.values import Flat, Sections, Value, ValueFaultError, flat, merged, read_sections
from modelyard.catalog.yaml_file import Loader, load_one, read_text
from modelyard.errors import CatalogError

FILE = "values.yaml"
ENV_FILE = "values.env"  # the same, beside the kustomization that reads them


def values_in(text: str, declared: Mapping[str, Value], *, shown: str, null: bool = False) -> Sections:
    """Return a file of values.

    Args:
        text: its content.
        declared: the values that there are, by <component>.<name>.
        shown: the file's name for people.
        null: whether a value may be null.

    Raises:
        CatalogError: it is not valid YAML, or a value is unknown or does not fit; the message names line and field.
    """
    try:
        return read_sections(load_one(text, shown), declared, null=null)
    except ValueFaultError as fault:
        line = line_of(yaml.compose(text, Loader=Loader), fault.path)
        field = ".".join(fault.path) or "(whole file)"
        raise CatalogError(f"{shown}, line {line}", f"field {field}: {fault.cause}", f"edit {shown}") from fault


def target_values(
    root: Path, chain: Iterable[Target], components: Mapping[str, Component]
) -> tuple[dict[str, Value], Flat]:
    """Return the values that a target has: what each is, and its default.

    Args:
        root: the folder with overlays/.
        chain: the target, then the target that it is on, and so on down to the last.
        components: the catalogue's.

    Raises:
        CatalogError: values.yaml of one of them is not valid, or lacks what target.yaml declares.
    """
    declared = {f"{name}.{key}": value for name, each in components.items() for key, value in each.values.items()}
    found: Sections = {}
    for target in reversed(tuple(chain)):
        _check_declared(target, components)
        declared |= target.values
        shown = f"overlays/{target.name}/{FILE}"
        text = read_text(root / shown, shown) if (root / shown).is_file() else ""
        own = values_in(text, declared, shown=shown, null=True)
        found = merged(found, own)
        for key in target.values:
            if key not in flat(found):
                raise CatalogError(shown, f"lacks {key}, which target.yaml declares", f"add a default to {shown}")
    defaults = flat(found)
    return {key: declared[key] for key in defaults}, defaults


def check_sized(components: Iterable[Component]) -> None:
    """Check that at most one component takes what nodes have left, in values that it has.

    Raises:
        CatalogError: there are two, or it has no such value.
    """
    sized = [(each.name, each.sized, each.values) for each in components if each.sized is not None]
    if len(sized) > 1:
        raise CatalogError(
            f"component {sized[1][0]}", f"is sized, as {sized[0][0]} is: one can have what is left", "edit one of them"
        )
    for name, each, values in sized:
        for value in (each.cpu, each.memory):
            if value not in values:
                cause = f"sized names the value {value}, which it does not have" + nearest(value, values)
                raise CatalogError(f"component {name}", cause, "edit `sized` in its component.yaml")


def _check_declared(target: Target, components: Mapping[str, Component]) -> None:
    for key in target.values:
        name = key.partition(".")[0]
        if name not in components:
            raise CatalogError(
                f"overlays/{target.name}/target.yaml",
                f"values names component {name}, which is not in manifests/" + nearest(name, components),
                f"edit values in overlays/{target.name}/target.yaml",
            )
