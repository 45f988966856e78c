"""What the catalogue uses: remote references of its kustomizations, images of its components, its Go modules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from modelyard.catalog import Catalog, Upstream, When
from modelyard.catalog.yaml_file import load_one
from modelyard.images import Declared, UsedImage, used
from modelyard.lock.edit import scalars
from modelyard.objects import Object, sequence
from modelyard.render.charts import resolve_chart
from modelyard.render.closure import NAMES
from modelyard.render.kustomization import CHARTS, entries
from modelyard.render.remote import is_remote

_GO_MODULES = "installer/modelyard/local/modules"
_REQUIREMENT = re.compile(r"^\s*(?:require\s+)?([\w.~/-]+\.[\w.~/-]+) (v[\w.+-]+)", re.M)


@dataclass(frozen=True, slots=True)
class RemoteUse:
    """A remote reference: the kustomization that has it, the line (from 1), and the reference."""

    file: str
    line: int
    entry: str


def remote_uses(root: Path) -> list[RemoteUse]:
    """Return every remote reference of every kustomization in manifests/ and overlays/.

    Raises:
        CatalogError: a kustomization is not valid YAML.
    """
    files = [path for top in ("manifests", "overlays") for name in NAMES for path in (root / top).rglob(name)]
    return [
        use
        for file in sorted(files)
        for use in uses_of(file.read_text(encoding="utf-8"), file.relative_to(root).as_posix())
    ]


def chart_uses(root: Path, upstreams: Mapping[str, Upstream]) -> list[tuple[str, str]]:
    """Return file and upstream of each published chart that a kustomization names.

    Raises:
        CatalogError: a kustomization is not valid YAML, or names a chart that is not locked.
    """
    files = [path for top in ("manifests", "overlays") for name in NAMES for path in (root / top).rglob(name)]
    found = []
    for file in sorted(files):
        shown = file.relative_to(root).as_posix()
        for entry in sequence(load_one(file.read_text(encoding="utf-8"), shown), CHARTS):
            found.append((shown, resolve_chart(entry, upstreams, shown=shown).upstream))
    return found


def uses_of(text: str, shown: str) -> Iterator[RemoteUse]:
    """Yield the remote references of one kustomization; CatalogError where it is not valid YAML."""
    content = load_one(text, shown)
    named = {entry.field: entry.value for entry in entries(content)} if isinstance(content, dict) else {}
    remote = {path: entry for path, entry in named.items() if is_remote(entry)}
    for scalar in scalars(text) if remote else ():
        if scalar.path in remote:
            yield RemoteUse(shown, text.count("\n", 0, scalar.start) + 1, remote[scalar.path])


def images_of(catalog: Catalog, rendered: Mapping[str, Iterable[Object]]) -> list[UsedImage]:
    """Return the images of rendered components, under upstream's names.

    Args:
        catalog: the catalogue.
        rendered: component -> objects, before any rewriting.
    """
    declared = [
        Declared(name, image.name, image.tag, workload=image.when is When.WORKLOAD)
        for name in catalog.components
        for image in catalog.component(name).images
    ]
    return used(rendered, declared, catalog.pins)


def go_requirements(root: Path) -> dict[str, dict[str, str]]:
    """Return, for each go.mod that `local` builds from, the modules that it requires with their versions.

    Its key is the folder's name. Empty where the catalogue stands alone, as in a wheel.
    """
    return {
        path.parent.name: dict(_REQUIREMENT.findall(path.read_text(encoding="utf-8")))
        for path in sorted((root / _GO_MODULES).glob("*/go.mod"))
    }


def go_mod(module: str) -> str:
    """Return the path of a go.mod, relative to the clone, by its folder's name."""
    return f"{_GO_MODULES}/{module}/go.mod"
