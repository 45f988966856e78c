"""YAML files that people write, checked before anything is made of them.

The file's events are looked at one after the other, so that nothing is built in memory, and nothing recurses, before
it is known to be harmless: PyYAML's C composer crashes on deep nesting, and aliases of aliases ("billion laughs",
CVE-2019-11253 in Kubernetes itself) make a few hundred bytes grow into gigabytes for whoever walks the result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import yaml

from modelyard.errors import CatalogError

# More than any object that the apiserver takes: etcd's limit is 1.5 MiB a request.
MAX_BYTES = 2 * 1024**2
MAX_DEPTH = 100
# Nodes that aliases add beyond those that are written.
MAX_ALIASED = 10_000

_Base: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Loader(_Base):  # type: ignore[valid-type, misc]  # chosen at import: the C loader where there is one
    """Kubernetes' YAML is JSON: a date is a string, and so is a plain `=`, which YAML 1.1 takes for a default value."""


Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in found
        if tag not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value")
    ]
    for first, found in _Base.yaml_implicit_resolvers.items()
}


def read_text(path: Path, shown: str) -> str:
    """Return the text of a file that is not too big.

    Args:
        path: the file.
        shown: its name for people, relative to the clone.

    Raises:
        CatalogError: it is missing, too big, or not UTF-8.
    """
    check_size(path, shown)
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CatalogError(shown, f"cannot be read: {error}", f"check {shown}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise CatalogError(
            f"{shown}, line {line}", f"cannot be read: it is not UTF-8 ({error.reason})", f"write {shown} as UTF-8"
        ) from error


def check_size(path: Path, shown: str) -> None:
    """Raise CatalogError if the file is bigger than any manifest has to be, or cannot be read."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise CatalogError(shown, f"cannot be read: {error}", f"check {shown}") from error
    if size > MAX_BYTES:
        raise CatalogError(
            shown,
            f"is {size / 1024**2:.1f} MiB, more than the {MAX_BYTES / 1024**2:.0f} MiB that a file here may have",
            f"split {shown}; what an upstream publishes is named by its URL instead",
        )


def load_one(text: str, shown: str) -> object:
    """Return what the one document of `text` says; None if it says nothing.

    Raises:
        CatalogError: see `check`; or a value cannot be what its tag says.
    """
    check(text, shown, single=True)
    try:
        return yaml.load(text, Loader=Loader)
    except (yaml.YAMLError, ValueError) as error:
        raise _no_yaml(error, shown) from error


def load_many(text: str, shown: str) -> list[object]:
    """Return what each document of `text` says; CatalogError as for `load_one`."""
    check(text, shown)
    try:
        return list(yaml.load_all(text, Loader=Loader))
    except (yaml.YAMLError, ValueError) as error:
        raise _no_yaml(error, shown) from error


def check(text: str, shown: str, *, single: bool = False) -> None:
    """Check a YAML text before it is loaded.

    Args:
        text: the text.
        shown: its file's name for people.
        single: refuse more than one document.

    Raises:
        CatalogError: it is not valid YAML, repeats a key, nests too deep, its aliases grow without bounds, or it holds
            several documents where one is expected; the message names the line.
    """
    scan = _Scan(shown, single)
    try:
        for event in yaml.parse(text, Loader=Loader):
            scan.take(event)
    except yaml.YAMLError as error:
        raise _no_yaml(error, shown) from error


@dataclass(slots=True)
class _Level:
    """A mapping or a list that is being read."""

    anchor: str | None
    keys: set[str] | None
    path: str
    nodes: int = 1
    at_key: bool = True
    key: str = ""


@dataclass(slots=True)
class _Scan:
    shown: str
    single: bool
    documents: int = 0
    aliased: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    levels: list[_Level] = field(default_factory=list)

    def take(self, event: yaml.Event) -> None:
        """Look at the next event."""
        if isinstance(event, yaml.DocumentStartEvent):
            self._begin_document(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._open(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            level = self.levels.pop()
            self._node(level.nodes, level.anchor)
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)

    def _begin_document(self, event: yaml.DocumentStartEvent) -> None:
        self.documents += 1
        self.sizes = {}
        if self.single and self.documents > 1:
            raise self._error(event, "holds several documents, where one is expected", "put the rest in another file")

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        if len(self.levels) >= MAX_DEPTH:
            raise self._error(event, f"nests deeper than {MAX_DEPTH} levels")
        above = self.levels[-1] if self.levels else None
        if above is not None and above.keys is not None and above.at_key:
            raise self._error(event, f"field {above.path or '(whole file)'}: a key is a list or a mapping, not text")
        path = ".".join(part for part in (above.path, above.key) if part) if above else ""
        self.levels.append(_Level(event.anchor, set() if isinstance(event, yaml.MappingStartEvent) else None, path))

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        level = self.levels[-1] if self.levels else None
        if level is not None and level.keys is not None and level.at_key:
            level.key = event.value
            if event.value in level.keys:
                name = ".".join(part for part in (level.path, event.value) if part)
                raise self._error(event, f"field {name}: is given twice")
            level.keys.add(event.value)
        self._node(1, event.anchor)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if any(level.anchor == event.anchor for level in self.levels):
            raise self._error(event, f"alias *{event.anchor} stands inside of what it names")
        nodes = self.sizes.get(str(event.anchor), 1)
        self.aliased += nodes
        if self.aliased > MAX_ALIASED:
            raise self._error(event, f"its aliases stand for more than {MAX_ALIASED:,} values", "write them out")
        self._node(nodes, None)

    def _node(self, nodes: int, anchor: str | None) -> None:
        """Count a node that has been read."""
        if anchor is not None:
            self.sizes[anchor] = nodes
        if self.levels:
            self.levels[-1].nodes += nodes
            self.levels[-1].at_key = not self.levels[-1].at_key

    def _error(self, event: yaml.Event, cause: str, remedy: str = "") -> CatalogError:
        line = event.start_mark.line + 1 if event.start_mark else 1
        return CatalogError(f"{self.shown}, line {line}", cause, remedy or f"edit {self.shown}")


def _no_yaml(error: Exception, shown: str) -> CatalogError:
    line, cause = 1, str(error)  # a character that YAML does not allow has no mark
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        cause = error.problem or error.context or cause
    return CatalogError(f"{shown}, line {line}", f"is not valid YAML: {cause}", f"edit {shown}")
