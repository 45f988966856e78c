"""Where a command finds the catalogue, its caches and its tools."""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from modelyard.events import Emit, Note
from modelyard.paths import cache_dir, data_root, upstreams_dir
from modelyard.platform.scratch import require_scratch
from modelyard.programs import run
from modelyard.render.cache import Cache

if TYPE_CHECKING:
    from modelyard.catalog import Catalog
    from modelyard.render.render import Renderer
    from modelyard.sources import Store


class Workspace:
    """One command's surroundings; everything slow is had on first use.

    Args:
        cache: the cache folder; None: the default.
        emit: takes events of tools that must be built.
        offline: fetch no upstream: take only what is on this machine.
    """

    def __init__(self, cache: Path | None, emit: Emit, *, offline: bool = False) -> None:
        self.root = data_root()
        self.cache_dir = cache_dir(cache)
        self.rendered = Cache(self.cache_dir / "render")
        self._emit = emit
        self._offline = offline

    def catalog(self) -> Catalog:
        """Read the catalogue."""
        from modelyard import catalog

        return catalog.load(self.root)

    def renderer(self) -> Renderer:
        """Return what turns overlays into objects."""
        from modelyard.render.pins import HELM_VERSION, KUSTOMIZE_VERSION
        from modelyard.render.render import Renderer, Tools

        tools = Tools(
            kustomize=cache(lambda: self.tool("kustomize", KUSTOMIZE_VERSION)),
            helm=cache(lambda: self.tool("helm", HELM_VERSION)),
        )
        return Renderer(self.rendered, self.store(), tools)

    def store(self) -> Store:
        """Return the verified upstream trees."""
        from modelyard.sources import Store

        return Store(self.cache_dir / "sources", self.modcache, self.go, self._offline, upstreams_dir(), self._tell)

    def _tell(self, text: str) -> None:
        self._emit(Note(text))

    @property
    def modcache(self) -> Path:
        """Return the Go module cache."""
        return self.cache_dir / "go" / "mod"

    def go(self) -> Path:
        """Return the go command."""
        from modelyard.local.build.toolchain import find_go

        return Path(find_go(self.cache_dir).go)

    def tool(self, name: str, version: str) -> Path:
        """Return the tool from PATH where it has the pinned version, else built from its module."""
        found = shutil.which(name)
        if found is not None and _version_of(found) == version:
            return Path(found)
        require_scratch()
        from modelyard.local.build import binaries
        from modelyard.local.build.queue import BuildQueue
        from modelyard.local.build.toolchain import find_go

        queue = BuildQueue(find_go(self.cache_dir), self.cache_dir, self._emit)
        try:
            return queue.binary({"kustomize": binaries.KUSTOMIZE, "helm": binaries.HELM}[name]).result()
        finally:
            queue.close(cancel=True)


def _version_of(tool: str) -> str:
    found = re.search(r"v\d+\.\d+\.\d+", run([tool, "version"], seconds=20).text)
    return found[0] if found else ""
