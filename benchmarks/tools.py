"""The peers' programs, from the same store and the same compiler as modelyard's own binaries."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from modelyard.events import discard
from modelyard.local.build.binaries import CONTROL_PLANE, HELM, KUSTOMIZE
from modelyard.local.build.queue import BuildQueue
from modelyard.local.build.toolchain import find_go
from modelyard.paths import cache_dir

_KNOWN = {binary.name: binary for binary in (*CONTROL_PLANE, KUSTOMIZE, HELM)}


@cache
def tool(name: str) -> Path:
    """Return the path of kubectl, kustomize or helm; built first if the store has none."""
    queue = BuildQueue(find_go(cache_dir()), cache_dir(), discard)
    try:
        return queue.binary(_KNOWN[name]).result()
    finally:
        queue.close()
