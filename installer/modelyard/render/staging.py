"""A copy of one component's kustomizations in which each remote reference is a verified local tree.

kustomize sees no URL, so it never runs git. Upstream's trees are reached by links, because kustomize
takes a path with `@` (as in the Go module cache) for a git URL.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import yaml

from modelyard.catalog.models import Lock
from modelyard.catalog.yaml_file import Loader
from modelyard.errors import RenderError
from modelyard.objects import sequence
from modelyard.render.charts import ChartRef
from modelyard.render.closure import Closure, kustomization_of
from modelyard.render.kustomization import CHARTS, TREES
from modelyard.render.remote import RefKind, RemoteRef

UPSTREAMS = ".modelyard-upstreams"


def stage(
    closure: Closure,
    into: Path,
    *,
    tree: Callable[[str], Path],
    release: Callable[[str], bytes],
    chart: Callable[[ChartRef], bytes],
    lock: Lock,
) -> None:
    """Copy a closure's folders into the empty folder `into`, as they lie below `closure.roots.base`.

    Remote references are made local.

    Args:
        closure: what to copy.
        into: where to.
        tree: gives an upstream's verified tree by its name.
        release: gives an upstream's release manifest by its name.
        chart: renders an upstream's chart.
        lock: upstream.lock.
    """
    base = closure.roots.base
    for folder in sorted(closure.folders):
        if not set(folder.parents) & set(closure.folders):  # else it came with the folder that it is in
            # Links stay links: kustomize refuses one that leads out of its folder.
            shutil.copytree(folder, into / folder.relative_to(base), dirs_exist_ok=True, symlinks=True)
    for name in sorted({ref.upstream for ref in closure.refs.values() if ref.kind is RefKind.FOLDER}):
        link = into / UPSTREAMS / name / lock.upstreams[name].path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(tree(name))
    for folder in sorted(closure.folders):
        _rewrite(closure, folder, into, tree=tree, release=release, lock=lock)
        _inflate(closure, folder, into, chart=chart)


def _rewrite(
    closure: Closure,
    folder: Path,
    into: Path,
    *,
    tree: Callable[[str], Path],
    release: Callable[[str], bytes],
    lock: Lock,
) -> None:
    here = into / folder.relative_to(closure.roots.base)
    content = dict(closure.kustomizations[folder])
    changed = False
    for key in TREES:
        entries = content.get(key)
        if not isinstance(entries, list):
            continue
        entries = content[key] = list(entries)
        for position, entry in enumerate(entries):
            ref = closure.refs.get((folder, str(entry)))
            if ref is not None:
                local = into / UPSTREAMS / ref.upstream / lock.upstreams[ref.upstream].path / ref.path
                entries[position] = _localise(ref, here, local, tree=tree, release=release)
                changed = True
    if changed:
        kustomization_of(here, str(folder)).write_text(json.dumps(content), encoding="utf-8")  # JSON is YAML


def _inflate(closure: Closure, folder: Path, into: Path, *, chart: Callable[[ChartRef], bytes]) -> None:
    """Put rendered charts in place of `helmCharts`: before other resources, as no patch tells where they stand."""
    charts = closure.charts.get(folder, ())
    if not charts:
        return
    here = into / folder.relative_to(closure.roots.base)
    file = kustomization_of(here, str(folder))
    content = yaml.load(file.read_text(encoding="utf-8"), Loader)  # as it is staged by now
    names = [f"upstream-{each.upstream}-chart-{position}.yaml" for position, each in enumerate(charts)]
    for name, each in zip(names, charts, strict=True):
        (here / name).write_bytes(chart(each))
    del content[CHARTS]
    content["resources"] = [*names, *sequence(content, "resources")]
    file.write_text(json.dumps(content), encoding="utf-8")


def _localise(
    ref: RemoteRef,
    here: Path,
    folder: Path,
    *,
    tree: Callable[[str], Path],
    release: Callable[[str], bytes],
) -> str:
    """Return the local entry for `ref`; a file is copied beside the kustomization, where it may be read."""
    if ref.kind is RefKind.FOLDER:
        if not folder.is_dir():
            raise RenderError(f"upstream {ref.upstream}", f"has no folder {ref.path}", "edit the kustomization")
        return os.path.relpath(folder, here)
    name = f"upstream-{ref.upstream}-{ref.path.name or 'release.yaml'}"
    if ref.kind is RefKind.RELEASE:
        (here / name).write_bytes(release(ref.upstream))
        return name
    source = tree(ref.upstream) / ref.path
    if not source.is_file():
        raise RenderError(f"upstream {ref.upstream}", f"has no file {ref.path}", "edit the kustomization")
    shutil.copyfile(source, here / name)
    return name
