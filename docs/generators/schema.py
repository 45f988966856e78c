"""docs/reference/{component,target,upstream-lock}.md, from the catalogue's models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from docs.generators.markdown import code, page, table
from modelyard.catalog.fields import Model
from modelyard.catalog.models import Component, Lock, Target

Schema = Mapping[str, Any]

# Patterns that have a name of their own.
PATTERNS = {
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$": "DNS label",
    r"^[0-9a-f]{64}$": "sha256 (64 hex digits)",
    r"^[0-9a-f]{40}$": "commit (40 hex digits)",
    r"^[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*$": "SPDX expression",
    r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$": "[requirement](components.md#requirements)",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page about one kind of file: its model, what it is for, and a real one to look at."""

    title: str
    model: type[Model]
    intro: str
    example: str


COMPONENT = Page(
    "component.yaml",
    Component,
    "`manifests/<area>/<name>/component.yaml` says what a component is; the `kustomization.yaml` beside it says what "
    "is installed. [How to add one](../how-to/your-own-component.md).",
    "manifests/scheduler/kueue/component.yaml",
)
TARGET = Page(
    "target.yaml",
    Target,
    "`overlays/<target>/target.yaml` says which components a target has, by profile. Beside it lie a folder for "
    "each component that differs there, with the patches, and a `kustomization.yaml` over all components. "
    "[How to add one](../how-to/add-a-target.md).",
    "overlays/local/target.yaml",
)
LOCK = Page(
    "upstream.lock",
    Lock,
    "`upstream.lock` pins every upstream and every image. A tree is used only if its digest is the locked one.",
    "upstream.lock",
)


def render(about: Page) -> str:
    """Return the page about one kind of file."""
    schema = about.model.model_json_schema()
    definitions = schema.get("$defs", {})
    parts = [_section("Fields", schema), *(_section(name, definitions[name]) for name in _used(schema, definitions))]
    example = f"A real one: [{about.example}](../../{about.example}). A field that is not here is an error."
    return page(about.title, about.intro, example, *parts)


def _used(schema: Schema, definitions: Mapping[str, Schema]) -> list[str]:
    """Return the definitions that `schema` reaches, each after the one that first names it."""
    found: list[str] = []
    for name in _references(schema):
        if name not in found:
            found.append(name)
            found += [inner for inner in _used(definitions[name], definitions) if inner not in found]
    return found


def _references(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].rpartition("/")[2]
        for key, inner in value.items():
            if key not in ("$defs", "discriminator"):
                yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _section(title: str, schema: Schema) -> str:
    about = schema.get("description", "") if title != "Fields" else ""
    if "enum" in schema:
        return "\n\n".join((f"## {title}", about, ", ".join(code(value) for value in schema["enum"])))
    required = schema.get("required", ())
    rows = [
        (code(name), shape(field), "required" if name in required else _default(field), field.get("description", ""))
        for name, field in schema.get("properties", {}).items()
    ]
    fields = table(("field", "type", "default", "meaning"), rows)
    return "\n\n".join(part for part in (f"## {title}", about, fields) if part)


def _default(field: Schema) -> str:
    value = field.get("default")
    return "" if value in (None, "") else code(json.dumps(value))


def shape(field: Schema) -> str:
    """Return what a field may hold, in words."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in field:
        return code(str(field["const"]))
    for key in ("anyOf", "oneOf"):
        if key in field:
            return " or ".join(shape(each) for each in field[key] if each.get("type") != "null")
    match field.get("type"):
        case "array":
            return f"list of {shape(field['items'])}"
        case "object":
            values = field.get("additionalProperties")
            return f"map of {shape(values)}" if isinstance(values, Mapping) else "map"
        case "string" if pattern := field.get("pattern"):
            return PATTERNS.get(pattern) or f"string {code(pattern)}"
        case str(name):
            return name
    return "anything"
