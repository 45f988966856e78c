"""What a site sets: values that components and targets declare, with their types. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import Field, model_validator

from modelyard.catalog.fields import Model
from modelyard.catalog.names import nearest
from modelyard.quantity import parse

# <component>.<name> -> value, as it is put into an object.
Flat: TypeAlias = dict[str, str]
# <component> -> <name> -> value, as a file has it; None takes away what the file below has.
Sections: TypeAlias = dict[str, dict[str, str | None]]
Path: TypeAlias = tuple[str, ...]

ValueKey = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.[a-zA-Z][a-zA-Z0-9]*$")]
ValueName = Annotated[str, Field(pattern=r"^[a-zA-Z][a-zA-Z0-9]*$")]
_QUANTITY = r"^[0-9.]+([eE][+-]?[0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$"
_LINE = r"\S([^\r\n]*\S)?"  # values.env has a line for each


class ValueType(StrEnum):
    """The type of a value: a Kubernetes quantity (16, 500m, 64Gi), a whole number from 0 on, or a line of text."""

    QUANTITY = "quantity"
    COUNT = "count"
    TEXT = "text"


class Value(Model):
    """A value that a site sets."""

    @model_validator(mode="before")
    @classmethod
    def _from_mapping(cls, value: object) -> object:
        if isinstance(value, str):  # as it was written once
            raise ValueError(f"is text; write {{about: {value}}}, and a type where it is none")
        return value

    about: str = Field(description="what it is, in one line", min_length=1)
    type: ValueType = Field(default=ValueType.TEXT, description="what it may be")
    pattern: str = Field(default=_LINE, description="of text: a regular expression for the whole of it")


class Sized(Model):
    """Values that `install` sets on a target with fixed nodes: what the nodes have left beside all the rest."""

    cpu: ValueName = Field(description="the value that takes the CPUs")
    memory: ValueName = Field(description="the value that takes the memory")
    queue: str = Field(
        description="a kind, as <Kind>.<group>: pods of a namespace that has one count by its quota, not by themselves",
        pattern=r"^[A-Z][A-Za-z0-9]*\.[a-z0-9.-]+$",
    )


class ValueFaultError(Exception):
    """A value does not fit.

    Args:
        path: where it is in its file.
        cause: what is wrong.
    """

    def __init__(self, path: Path, cause: str) -> None:
        self.path, self.cause = path, cause
        super().__init__(f"{'.'.join(path)}: {cause}")


def read_sections(document: object, declared: Mapping[str, Value], *, null: bool = False) -> Sections:
    """Return a file of values, each checked by its type.

    Args:
        document: the file's content, as YAML has it.
        declared: the values that there are, by <component>.<name>.
        null: whether one may be null.

    Raises:
        ValueFaultError: one is not declared, or does not fit.
    """
    components = {key.partition(".")[0] for key in declared}
    found: Sections = {}
    for component, section in _mapping((), document).items():
        if component not in components:
            raise ValueFaultError(
                (component,), "no component of the target has values by that name" + nearest(component, components)
            )
        names = [key.partition(".")[2] for key in declared if key.partition(".")[0] == component]
        found[component] = {}
        for name, value in _mapping((component,), section).items():
            if name not in names:
                raise ValueFaultError((component, name), "unknown field" + nearest(name, names))
            found[component][name] = _checked((component, name), value, declared[f"{component}.{name}"], null=null)
    return found


def merged(below: Sections, own: Sections) -> Sections:
    """Return a file of values on top of another."""
    return {
        component: {**below.get(component, {}), **own.get(component, {})} for component in dict.fromkeys((*below, *own))
    }


def flat(sections: Sections) -> Flat:
    """Return values by <component>.<name>, without those that were taken away."""
    return {
        f"{component}.{name}": value
        for component, section in sections.items()
        for name, value in section.items()
        if value is not None
    }


def by_component(values: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return values that are named <component>.<name> by component and name."""
    found: dict[str, dict[str, str]] = {}
    for key, value in values.items():
        component, _, name = key.partition(".")
        found.setdefault(component, {})[name] = value
    return found


def json_schema(declared: Mapping[str, Value], title: str, *, gone: Iterable[str] = ()) -> dict[str, object]:
    """Return the JSON schema of a file that sets some of these values, for editors.

    Args:
        declared: the values that there are.
        title: the schema's.
        gone: values of the targets below that this one takes away: they can be null alone.
    """
    fields = {key: {"description": value.about, **_schema(value)} for key, value in declared.items()}
    fields |= {key: {"type": "null"} for key in gone}
    sections: dict[str, dict[str, object]] = {}
    for key, field in fields.items():
        component, _, name = key.partition(".")
        sections.setdefault(component, {})[name] = field
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "additionalProperties": False,
        "properties": {
            component: {"type": "object", "additionalProperties": False, "properties": properties}
            for component, properties in sections.items()
        },
    }


def _schema(value: Value) -> dict[str, object]:
    match value.type:
        case ValueType.QUANTITY:
            return {"anyOf": [{"type": "string", "pattern": _QUANTITY}, {"type": "number", "minimum": 0}]}
        case ValueType.COUNT:
            return {"type": "integer", "minimum": 0}
        case ValueType.TEXT:
            return {"type": "string", "pattern": f"^(?:{value.pattern})$"}


def _mapping(path: Path, value: object) -> dict[str, object]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ValueFaultError(path, "must be a mapping of names to values")
    return value


def _checked(path: Path, value: object, declared: Value, *, null: bool) -> str | None:
    if value is None and null:
        return None
    text = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    if isinstance(value, int | float) and declared.type is ValueType.TEXT:
        raise ValueFaultError(path, f"must be text, and YAML reads {value!r} otherwise: put it in quotes")
    if not isinstance(text, str) or not _fits(text, declared):
        raise ValueFaultError(path, f"{value!r} is not {_wanted(declared)}")
    return text


def _fits(text: str, declared: Value) -> bool:
    match declared.type:
        case ValueType.QUANTITY:
            amount = parse(text)
            return amount is not None and amount >= 0
        case ValueType.COUNT:
            return re.fullmatch("[0-9]+", text) is not None
        case ValueType.TEXT:
            return re.fullmatch(declared.pattern, text) is not None and re.fullmatch(_LINE, text) is not None


def _wanted(declared: Value) -> str:
    match declared.type:
        case ValueType.QUANTITY:
            return "a quantity, such as 16, 500m or 64Gi"
        case ValueType.COUNT:
            return "a whole number from 0 on"
        case ValueType.TEXT:
            return "a line of text" if declared.pattern == _LINE else f"text like {declared.pattern}"
