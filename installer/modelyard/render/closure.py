"""All that one component's kustomization reaches, checked before kustomize sees any of it.

Refused: remote references that upstream.lock does not have, what leaves its folder, what would run a program.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from modelyard.catalog.document import line_of
from modelyard.catalog.models import Lock
from modelyard.catalog.yaml_file import Loader, check, check_size, load_many, load_one, read_text
from modelyard.errors import CatalogError
from modelyard.objects import sequence
from modelyard.render import kustomization
from modelyard.render.allowed_roots import AllowedRoots
from modelyard.render.charts import ChartRef, resolve_chart
from modelyard.render.kustomization import Entry, Field, Kind
from modelyard.render.remote import RemoteRef, is_remote, resolve

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
Kustomization = Mapping[str, object]


@dataclass(slots=True)
class Closure:
    """What one component's kustomization reaches.

    Args:
        roots: where its folders may be.
        kustomizations: its folders with their kustomizations: the first is where it begins, and each comes
            before those that it alone names.
        refs: the remote references by the folder and the entry that names them.
        files: the files that are named, with what they must be.
        charts: the published charts by the folder that names them.
    """

    roots: AllowedRoots
    kustomizations: dict[Path, Kustomization] = field(default_factory=dict)
    refs: dict[tuple[Path, str], RemoteRef] = field(default_factory=dict)
    files: dict[Path, Kind] = field(default_factory=dict)
    charts: dict[Path, tuple[ChartRef, ...]] = field(default_factory=dict)

    @property
    def start(self) -> Path:
        """Return the folder where it begins."""
        return next(iter(self.kustomizations))

    @property
    def folders(self) -> tuple[Path, ...]:
        """Return its folders, in the order in which they were found."""
        return tuple(self.kustomizations)

    @property
    def upstreams(self) -> set[str]:
        """Return the names of the upstreams that are used."""
        charts = {chart.upstream for named in self.charts.values() for chart in named}
        return {ref.upstream for ref in self.refs.values()} | charts


def explore(roots: AllowedRoots, start: Path, lock: Lock) -> Closure:
    """Follow kustomizations from the folder `start`.

    An overlay that only names its base is passed over: the base is rendered once for all such targets.

    Raises:
        CatalogError: a kustomization is malformed or missing, names something remote that is not locked, something
            that is not there or not in its folder, or would run a program; it names file, line and field.
    """
    closure = Closure(roots)
    if not roots.holds(start) or start.resolve() != start:
        raise CatalogError(
            f"component {start.name}", f"is at {start}, which leads out of the catalogue", "move it into manifests/"
        )
    todo = deque([start])
    namers: dict[Path, set[Path]] = {start: set()}
    while todo:
        folder = todo.popleft()
        if folder not in closure.kustomizations:
            named = _Visit(closure, folder, lock).folders()
            todo.extend(named)
            for each in named:
                namers.setdefault(each, set()).add(folder)
    _pass_over_thin(closure, namers)
    return closure


def _pass_over_thin(closure: Closure, namers: Mapping[Path, set[Path]]) -> None:
    """Begin with the first folder that does more than to name one other; kustomize is left to tell of a circle."""
    passed: set[Path] = set()
    while namers[closure.start] <= passed and kustomization.is_thin(closure.kustomizations[closure.start]):
        if len(closure.kustomizations) == 1:  # what it names is no folder
            break
        passed.add(closure.start)
        del closure.kustomizations[closure.start]


def check_files(closure: Closure) -> None:
    """Check the content of the files that a closure names: once is enough for each content.

    Raises:
        CatalogError: one is too big, no UTF-8, no YAML where it must be, or would run a program.
    """
    for path, kind in sorted(closure.files.items()):
        shown = closure.roots.shown(path)
        if kind is Kind.DATA:
            check_size(path, shown)
            continue
        text = read_text(path, shown)
        check(text, shown)
        if kind is Kind.PLUGIN:
            _refuse_plugins(text, shown)


def kustomization_of(folder: Path, shown: str) -> Path:
    """Return the kustomization file of `folder`; CatalogError where it has none."""
    for name in NAMES:
        if (folder / name).is_file():
            return folder / name
    raise CatalogError(shown, "has no kustomization.yaml", f"add {shown}/kustomization.yaml")


class _Visit:
    """One folder's kustomization, read and checked."""

    def __init__(self, closure: Closure, folder: Path, lock: Lock) -> None:
        self._closure, self._folder, self._lock = closure, folder, lock
        file = kustomization_of(folder, closure.roots.shown(folder))
        self._shown = closure.roots.shown(file)
        self._text = read_text(file, self._shown)
        content = load_one(self._text, self._shown)
        if not isinstance(content, dict):
            raise CatalogError(self._shown, "is not a kustomization", f"edit {self._shown}")
        self._content: Kustomization = content
        closure.kustomizations[folder] = content

    def folders(self) -> list[Path]:
        """Put remote references and files into the closure; return the folders that are named."""
        self._refuse_programs()
        self._closure.charts[self._folder] = tuple(self._charts())
        found = []
        for entry in kustomization.entries(self._content):
            if entry.kind is Kind.TREE and is_remote(entry.value):
                where = (self._folder, entry.value)
                self._closure.refs[where] = resolve(entry.value, self._lock.upstreams, shown=self._where(entry.field))
                continue
            path = self._local(entry)
            if path.is_dir():
                found.append(path)
            else:
                self._closure.files[path] = Kind.YAML if entry.kind is Kind.TREE else entry.kind
        return found

    def _refuse_programs(self) -> None:
        for where, right in kustomization.disguised(self._content):
            raise self._error(where, f"is written {right}", f"edit {self._shown}")
        chart = kustomization.other_charts(self._content)
        if chart is not None:
            raise self._error(chart, "would run helm", "name a chart that upstream.lock has under `helmCharts`")
        for where, text in kustomization.inline_plugins(self._content):
            _refuse_plugins(text, self._where(where))

    def _charts(self) -> Iterator[ChartRef]:
        for position, entry in enumerate(sequence(self._content, kustomization.CHARTS)):
            yield resolve_chart(entry, self._lock.upstreams, shown=self._where((kustomization.CHARTS, position)))

    def _local(self, entry: Entry) -> Path:
        """Return the file or folder that `entry` names; refuse what kustomize could not, or must not, read."""
        if is_remote(entry.value) or "://" in entry.value:
            raise self._error(
                entry.field,
                f"names {entry.value}; only resources and components may be remote",
                "copy the file beside it, or name the upstream's folder in resources",
            )
        path = Path(os.path.normpath(self._folder / entry.value))
        if not path.is_file() and not (entry.kind is Kind.TREE and path.is_dir()):
            raise self._error(entry.field, f"names {entry.value}, which is not there", f"edit {self._shown}")
        allowed = self._closure.roots.holds(path) if path.is_dir() else path.is_relative_to(self._folder)
        if Path(entry.value).is_absolute() or not allowed or path.resolve() != path:
            what = "the catalogue" if path.is_dir() else "the kustomization's folder"
            raise self._error(
                entry.field, f"names {entry.value}, which leads out of {what}", "move it there, and name it from there"
            )
        return path

    def _where(self, field: Field) -> str:
        node = yaml.compose(self._text, Loader=Loader)
        return f"{self._shown}, line {line_of(node, field)}"

    def _error(self, field: Field, cause: str, remedy: str) -> CatalogError:
        return CatalogError(self._where(field), f"field {'.'.join(map(str, field))}: {cause}", remedy)


def _refuse_plugins(text: str, shown: str) -> None:
    for plugin in load_many(text, shown):
        program = kustomization.runs(plugin)
        if program:
            raise CatalogError(
                shown, f"would run {program}; a render runs nothing but kustomize", "use a patch or a replacement"
            )
