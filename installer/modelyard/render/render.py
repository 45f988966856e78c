"""Overlays to objects, one component at a time, in parallel, once for each content."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from modelyard.catalog import Catalog
from modelyard.catalog.values import by_component
from modelyard.errors import RenderError
from modelyard.images import Rewriting
from modelyard.objects import Object, mappings, text
from modelyard.render import fingerprint, helm, kustomize, staging
from modelyard.render.allowed_roots import AllowedRoots
from modelyard.render.cache import Cache
from modelyard.render.charts import ChartRef
from modelyard.render.closure import Closure, check_files, explore
from modelyard.render.documents import parse
from modelyard.render.owners import refuse_shared
from modelyard.render.rewritten import rewritten
from modelyard.render.unmatched import unmatched_patches
from modelyard.render.values import put_values
from modelyard.sources import Store

Objects = list[dict[str, object]]
# In place of a component's name: overlays/<target>/kustomization.yaml, which is over all of them.
WHOLE = "."
# Component -> name -> value; each must be in the component's values.env.
Values = Mapping[str, Mapping[str, str]]
# Component -> its cache key and its closure.
Closures = dict[str, tuple[str, Closure]]


@dataclass(frozen=True, slots=True)
class Tools:
    """What a render runs; each is asked for only when something must really be rendered.

    Args:
        kustomize: gives the kustomize command, of version pins.KUSTOMIZE_VERSION. May raise.
        helm: gives the helm command, of version pins.HELM_VERSION. May raise.
    """

    kustomize: Callable[[], Path]
    helm: Callable[[], Path]


@dataclass(frozen=True, slots=True)
class Renderer:
    """What a render works with.

    Args:
        cache: rendered output.
        store: verified upstream trees.
        tools: kustomize and helm.
    """

    cache: Cache
    store: Store
    tools: Tools

    def objects(
        self,
        catalog: Catalog,
        target: str,
        names: Sequence[str],
        values: Values | None = None,
        rewriting: Rewriting | None = None,
    ) -> dict[str, list[Object]]:
        """Return the objects of each of `names` for `target`, in the order of `names`.

        Args:
            catalog: the catalogue.
            target: a target of it.
            names: components of it.
            values: what to put in place of the target's values.
            rewriting: what to do with the images; None: leave them as they are.

        Raises:
            CatalogError: the target does not have one of them, a kustomization names what it must not, there
                is no such value, or two components have the same object.
            SourceError: an upstream tree cannot be had or is not the locked one.
            RenderError: kustomize or helm refused, nothing came out, or a patch matches nothing.
        """
        wanted = _with_defaults(catalog, target, values or {})
        found = self._built(catalog, _closures(catalog, target, names, wanted), wanted)
        if not rewriting:
            return {name: list(objects) for name, objects in found.items()}
        return {name: list(rewriting.apply(found[name], catalog.image_names)) for name in found}

    def keys(
        self,
        catalog: Catalog,
        target: str,
        names: Sequence[str],
        values: Values | None = None,
        rewriting: Rewriting | None = None,
    ) -> dict[str, str]:
        """Render what the cache lacks; return the cache key of each of `names`. Arguments and errors as `objects`."""
        wanted = _with_defaults(catalog, target, values or {})
        closures = _closures(catalog, target, names, wanted)
        self._built(catalog, closures, wanted)
        keys = {name: key for name, (key, _) in closures.items()}
        if not rewriting:
            return keys
        return {
            name: rewritten(self.cache, key, rewriting, catalog.image_names, shown=f"component {name}")
            for name, key in keys.items()
        }

    def _built(self, catalog: Catalog, closures: Closures, values: Values) -> dict[str, Objects]:
        return _objects_of(closures, _Once(catalog, self.store, self.tools, values), self.cache)


def _with_defaults(catalog: Catalog, target: str, values: Values) -> Values:
    """Return the target's values with others in their place."""
    found = by_component(catalog.defaults.get(target, {}))
    return {name: {**found.get(name, {}), **values.get(name, {})} for name in {*found, *values}}


def _closures(catalog: Catalog, target: str, names: Sequence[str], values: Values) -> Closures:
    """Return each component's cache key and closure."""
    catalog.target(target)
    roots = AllowedRoots(catalog.root, catalog.overlay.folder if catalog.overlay else None)
    found = {}
    for name in names:
        folder = catalog.whole(target) if name == WHOLE else catalog.folder(target, name)
        closure = explore(roots, folder, catalog.lock)
        found[name] = (_key(catalog, closure, values.get(name, {})), closure)
    return found


def _objects_of(closures: Closures, one: _Once, cache: Cache) -> dict[str, Objects]:
    """Return the objects of all; what the cache lacks is rendered, in parallel, and kept."""
    cached = {name: cache.objects(key) for name, (key, _) in closures.items() if cache.text(key) is not None}
    missing = [name for name in closures if cached.get(name) is None]
    made: dict[str, Objects] = {}
    if missing:
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            outputs = pool.map(lambda name: one.build(name, closures[name][1]), missing)
            for name, output in zip(missing, outputs, strict=True):
                key, closure = closures[name]
                made[name] = _checked(name, closure, output)
                cache.keep(key, output, made[name])
    found = {name: made.get(name) or cached.get(name) or [] for name in closures}
    refuse_shared(found)
    return found


def _key(catalog: Catalog, closure: Closure, values: Mapping[str, str]) -> str:
    """Digest a component's inputs: its folders' files, what the lock says of its upstreams, the values."""
    pins = {name: catalog.lock.upstreams[name].model_dump(mode="json") for name in sorted(closure.upstreams)}
    folders = [(closure.roots.shown(folder), folder) for folder in closure.folders]
    start = closure.roots.shown(closure.start)
    return fingerprint.of_parts(
        folders, start, json.dumps(pins, sort_keys=True), json.dumps(dict(values), sort_keys=True)
    )


def _checked(name: str, closure: Closure, output: bytes) -> Objects:
    """Return what kustomize wrote as objects; refuse nothing at all, and patches that did nothing."""
    objects = parse(output, shown=f"component {name}")
    if not objects:
        raise RenderError(f"component {name}", "rendered to nothing at all", f"check the kustomization of {name}")
    for number, field, target in unmatched_patches(_with_patches(closure), objects):
        shown = closure.roots.shown(closure.folders[number])
        raise RenderError(
            f"{shown}/kustomization.yaml, field {'.'.join(map(str, field))}",
            f"the patch matches nothing: no object of component {name} fits {json.dumps(target)}",
            "fix its target, or remove the patch",
        )
    return objects


def _with_patches(closure: Closure) -> Iterator[Mapping[str, object]]:
    """Yield the kustomizations with the text of each patch in place of its file."""
    for folder, content in closure.kustomizations.items():
        patches = [
            {**patch, "patch": (folder / text(patch, "path")).read_text(encoding="utf-8")} if "path" in patch else patch
            for patch in mappings(content, "patches")
        ]
        yield {**content, "patches": patches}


class _Once:
    """One render: each upstream tree and each release manifest is had once."""

    def __init__(self, catalog: Catalog, store: Store, tools: Tools, values: Values) -> None:
        self._catalog, self._store, self._tools, self._values = catalog, store, tools, values
        self._tree = cache(self._get_tree)
        self._release = cache(self._get_release)

    def build(self, name: str, closure: Closure) -> bytes:
        """Stage and build one component."""
        check_files(closure)
        base, shown = closure.roots.base, closure.roots.shown(closure.start)
        with tempfile.TemporaryDirectory(prefix="modelyard-render-") as scratch:
            # kustomize compares real paths: a linked /tmp would not do
            stage = Path(scratch).resolve()
            staging.stage(
                closure, stage, tree=self._tree, release=self._release, chart=self._chart, lock=self._catalog.lock
            )
            folders = [stage / folder.relative_to(base) for folder in closure.folders]
            if name in self._values:
                put_values(folders, self._values[name], shown=shown)
            return kustomize.build(folders[0], kustomize=self._tools.kustomize(), stage=stage, shown=shown)

    def _get_tree(self, name: str) -> Path:
        return self._store.tree(name, self._catalog.lock.upstreams[name])

    def _chart(self, chart: ChartRef) -> bytes:
        upstream = self._catalog.lock.upstreams[chart.upstream]
        return helm.published_chart(chart, upstream, self._tree(chart.upstream), helm=self._tools.helm())

    def _get_release(self, name: str) -> bytes:
        upstream = self._catalog.lock.upstreams[name]
        return helm.release_manifest(name, upstream, self._tree(name), helm=self._tools.helm())
