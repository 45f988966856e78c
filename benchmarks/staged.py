"""A target's overlays in a folder where plain `kustomize build` can build them without a network."""

from __future__ import annotations

from pathlib import Path

from benchmarks.tools import tool
from modelyard.catalog import load
from modelyard.local.build.toolchain import find_go
from modelyard.paths import cache_dir, data_root
from modelyard.render import helm, staging
from modelyard.render.allowed_roots import AllowedRoots
from modelyard.render.charts import ChartRef
from modelyard.render.closure import explore
from modelyard.sources import Store


def stage(target: str, into: Path) -> Path:
    """Stage the overlay of the whole of `target` into the empty folder `into`; return the folder to build."""
    catalog = load(data_root())
    cache = cache_dir()
    store = Store(cache / "sources", cache / "go" / "mod", lambda: find_go(cache).go)

    def tree(name: str) -> Path:
        return store.tree(name, catalog.lock.upstreams[name])

    def release(name: str) -> bytes:
        return helm.release_manifest(name, catalog.lock.upstreams[name], tree(name), helm=tool("helm"))

    def chart(wanted: ChartRef) -> bytes:
        name = wanted.upstream
        return helm.published_chart(wanted, catalog.lock.upstreams[name], tree(name), helm=tool("helm"))

    overlay = Path("overlays", target)
    closure = explore(AllowedRoots(catalog.root), catalog.root / overlay, catalog.lock)
    staging.stage(closure, into, tree=tree, release=release, chart=chart, lock=catalog.lock)
    return into / overlay
