"""What `modelyard install` applies and loads, as files that kubectl and ctr take."""

from __future__ import annotations

from pathlib import Path

from benchmarks.commands import MODELYARD, run
from modelyard.catalog import load
from modelyard.events import discard
from modelyard.local.build.queue import BuildQueue
from modelyard.local.build.toolchain import find_go
from modelyard.paths import cache_dir, data_root
from modelyard.platform.embedded import supply

TARGET, PROFILE = "local", "core"


def write_manifest(path: Path) -> Path:
    """Write every object of the profile into one file, in the order of installation; return its path."""
    _, output = run([MODELYARD, "render", "--target", TARGET, "--profile", PROFILE])
    path.write_bytes(output)
    return path


def controller_images() -> list[Path]:
    """Return the archives of the images that the profile's controllers run; built first where they are missing."""
    catalog = load(data_root())
    queue = BuildQueue(find_go(cache_dir()), cache_dir(), discard)
    try:
        supplies = supply.request(queue, catalog, catalog.profile(TARGET, PROFILE))
        return [future.result() for each in supplies.values() for future in each.controller.values()]
    finally:
        queue.close(cancel=True)
