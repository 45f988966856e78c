"""docs/reference/values/<target>.json, and the values of a target as a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from docs.generators.markdown import code, table
from modelyard.catalog import load
from modelyard.catalog.values import Value, json_schema

FOLDER = "reference/values"


def render(root: Path, name: str) -> str:
    """Return the JSON schema of the values of one target below `root`."""
    catalog = load(root)
    below = [key for each in catalog.chain(name) for key in catalog.defaults[each.name]]
    gone = [key for key in dict.fromkeys(below) if key not in catalog.defaults[name]]
    schema = json_schema(catalog.inherited(name).values, f"Values of target {name}", gone=gone)
    return json.dumps(schema, indent=2) + "\n"


def values_table(values: Mapping[str, Value], defaults: Mapping[str, str]) -> str:
    """Return a table of values with their defaults; nothing where there are none."""
    rows = [(code(key), code(defaults[key]), value.type.value, value.about) for key, value in values.items()]
    return table(("a site sets", "default", "type", "what it is"), rows)
