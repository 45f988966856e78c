"""A YAML file read into a model; every complaint names file, line and field."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from modelyard.catalog.yaml_file import Loader, load_one, read_text
from modelyard.errors import CatalogError

M = TypeVar("M", bound=BaseModel)


def read_model(path: Path, model: type[M], *, shown: str) -> M:
    """Read `path` as one `model`.

    Args:
        path: the YAML file.
        model: what it must be.
        shown: the file's name for people, relative to the clone.

    Raises:
        CatalogError: the file is missing, is not valid YAML, repeats a key, holds several documents, or does not
            fit the model; the message names the line and the field.
    """
    text = read_text(path, shown)
    value = load_one(text, shown)
    try:
        return model.model_validate({} if value is None else value)
    except ValidationError as error:
        raise _invalid(error, yaml.compose(text, Loader=Loader), shown) from error


def _invalid(error: ValidationError, node: yaml.Node | None, shown: str) -> CatalogError:
    first = error.errors(include_url=False)[0]
    path = tuple(part for part in first["loc"] if part not in ("go", "python"))
    field = ".".join(str(part) for part in path) or "(whole file)"
    more = error.error_count() - 1
    rest = f" (and {more} more)" if more else ""
    cause = "unknown field" if first["type"] == "extra_forbidden" else first["msg"].removeprefix("Value error, ")
    return CatalogError(f"{shown}, line {line_of(node, path)}", f"field {field}: {cause}{rest}", f"edit {shown}")


def line_of(node: yaml.Node | None, path: tuple[int | str, ...]) -> int:
    """Return the line (from 1) of the field at `path`, or of the nearest parent that exists."""
    line = node.start_mark.line + 1 if node is not None else 1
    for part in path:
        found = _child(node, part)
        if found is None:
            return line
        line, node = found
    return line


def _child(node: yaml.Node | None, part: int | str) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line + 1, node.value[part]
    return None
