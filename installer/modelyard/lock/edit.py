"""One value of a YAML file changed in its text: comments, order and quotes stay. Pure.

A parser's marks say where the value stands, so nothing else is touched; no library that writes YAML is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import yaml

from modelyard.catalog.yaml_file import Loader
from modelyard.errors import CatalogError

_BYTE_ORDER_MARK = "\ufeff"
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value of a YAML text: its path, what it is, and where it stands: [start, end) in the text."""

    path: Path
    value: str
    start: int
    end: int


def scalars(text: str) -> list[Scalar]:
    """Return all plain and quoted values of all documents of a YAML text, in their order."""
    mark = len(text) - len(text.removeprefix(_BYTE_ORDER_MARK))  # the C loader does not count it
    return [
        scalar
        for document in yaml.compose_all(text[mark:], Loader=Loader)
        if document is not None
        for scalar in _scalars(document, (), mark)
    ]


def _scalars(node: yaml.Node, path: Path, mark: int) -> Iterator[Scalar]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _scalars(value, (*path, str(key.value)), mark)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _scalars(value, (*path, index), mark)
    else:
        yield Scalar(path, str(node.value), node.start_mark.index + mark, node.end_mark.index + mark)


def replace(text: str, change: Callable[[Scalar], str | None]) -> str:
    """Return `text` with the values for which `change` gives another one.

    Args:
        text: YAML.
        change: gives the new value, or None to leave it. New values are plain words: no spaces, no YAML signs.
    """
    return _replaced(text, scalars(text), change)


def _replaced(text: str, found: list[Scalar], change: Callable[[Scalar], str | None]) -> str:
    for scalar in reversed(found):
        new = change(scalar)
        if new is not None and new != scalar.value:
            written = text[scalar.start : scalar.end]
            quote = written[0] if written[:1] in ("'", '"') else _quote(new)
            text = f"{text[: scalar.start]}{quote}{new}{quote}{text[scalar.end :]}"
    return text


def _quote(value: str) -> str:
    """Return the quote that a value needs to stay a string: a tag like 1.20 is a number without it."""
    return "" if isinstance(yaml.safe_load(value), str) else '"'


def put(text: str, values: dict[Path, str], *, shown: str) -> str:
    """Return `text` with the values at these paths.

    Raises:
        CatalogError: one of the paths does not exist.
    """
    found = scalars(text)
    missing = set(values) - {scalar.path for scalar in found}
    if missing:
        path = ".".join(map(str, min(missing, key=str)))
        raise CatalogError(shown, f"has no {path}", f"add {path} to {shown}")
    return _replaced(text, found, lambda scalar: values.get(scalar.path))


def drop(text: str, path: Path) -> str:
    """Return `text` without the line of the block entry at `path`, if it is there."""
    for scalar in scalars(text):
        if scalar.path == path:
            begin = text.rfind("\n", 0, scalar.start) + 1
            end = text.find("\n", scalar.end) + 1 or len(text)
            return text[:begin] + text[end:]
    return text
