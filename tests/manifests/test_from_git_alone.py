"""Which targets Argo CD, Flux and kustomize can build from git: those whose references upstream publishes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from modelyard.catalog import load
from modelyard.catalog.models import Lock
from modelyard.paths import data_root
from modelyard.render.remote import RefKind, is_remote, resolve

# Of the release manifests that the lock renders from charts, the one that upstream publishes under that name, too:
# https://github.com/cert-manager/cert-manager/releases/tag/v1.19.4. Of the others there is a chart alone.
PUBLISHED = {"cert-manager"}
PAGE = data_root() / "docs/how-to/your-own-overlay.md"


def test_the_docs_name_the_targets_that_cannot_be_built_from_git() -> None:
    catalog = load(data_root())
    overlays = {name: data_root() / "overlays" / name for name in catalog.targets}
    targets = {name: sorted(rendered_charts(folder, catalog.lock)) for name, folder in overlays.items()}
    told = re.findall(r"^\| `([\w-]+)` \| ((?:`[\w-]+`(?:, )?)+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: re.findall(r"[\w-]+", charts) for name, charts in told} == {
        name: charts for name, charts in targets.items() if charts
    }


def rendered_charts(folder: Path, lock: Lock) -> set[str]:
    """Return the upstreams whose release manifest is named below `folder` and is the installer's render of a chart."""
    found = [resolve(entry, lock.upstreams, shown=str(folder)) for entry in _remote(folder, set())]
    return {ref.upstream for ref in found if ref.kind is RefKind.RELEASE} - PUBLISHED


def _remote(folder: Path, seen: set[Path]) -> Iterator[str]:
    """Yield the remote references that kustomize would follow from a folder."""
    if folder in seen:
        return
    seen.add(folder)
    content = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))
    for entry in [*content.get("resources", ()), *content.get("components", ())]:
        if is_remote(entry):
            yield entry
        elif (folder / entry).is_dir():
            yield from _remote((folder / entry).resolve(), seen)
