"""One item more in a list of a YAML file; comments and all else stay as they are. Pure."""

from __future__ import annotations

import yaml

from modelyard.catalog.yaml_file import Loader, check
from modelyard.errors import CatalogError


def append(text: str, path: tuple[str, ...], item: str, *, shown: str) -> str:
    """Return `text` with `item` at the end of the list at `path`; where the list has it already, `text` itself.

    Args:
        text: a YAML document.
        path: the keys that lead to the list.
        item: a plain word, or a path.
        shown: the file's name for people.

    Raises:
        CatalogError: there is no such list.
    """
    check(text, shown, single=True)
    found = _list_at(yaml.compose(text, Loader=Loader), path)
    if found is None:
        raise CatalogError(shown, f"has no list {'.'.join(path)} that {item} could be added to", f"edit {shown}")
    if item in [entry.value for entry in found.value]:
        return text
    if found.flow_style or not found.value:
        bracket = text.rindex("]", 0, found.end_mark.index)
        return f"{text[:bracket].rstrip()}{', ' if found.value else ''}{item}{text[bracket:]}"
    lines = text.splitlines(keepends=True)
    last = found.value[-1]
    place = last.end_mark.line + (1 if last.end_mark.column else 0)
    if place and not lines[place - 1].endswith("\n"):
        lines[place - 1] += "\n"
    lines.insert(place, f"{' ' * found.start_mark.column}- {item}\n")
    return "".join(lines)


def _list_at(node: yaml.Node | None, path: tuple[str, ...]) -> yaml.SequenceNode | None:
    for part in path:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = next((value for key, value in node.value if key.value == part), None)
    return node if isinstance(node, yaml.SequenceNode) else None
