"""From overlays to objects: `modelyard render` beside plain `kustomize build` of the same overlays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.cell import Cell, Series
from benchmarks.commands import MODELYARD, repeat, run
from benchmarks.space import most_resident_mib
from benchmarks.staged import stage
from benchmarks.tools import tool
from modelyard.paths import cache_dir

WARM_RUNS = 9
COLD_RUNS = 3
GOAL_WARM_SECONDS = 0.3
GOAL_MEMORY_MIB = 600e6 / 2**20
TARGET = "local"
_RENDER = (MODELYARD, "render", "--target", TARGET)
# Everything but what was rendered before: a cold render has its tools and the upstream trees.
_KEPT = ("store", "go", "sources")


def measure() -> Iterator[Cell]:
    """Yield a render with everything cached, and one with nothing rendered before."""
    with TemporaryDirectory(prefix="modelyard-bench-") as scratch:
        folder = stage(TARGET, Path(scratch, "stage").resolve())
        plain = Series(
            "kustomize build", tuple(run([tool("kustomize"), "build", "."], cwd=folder)[0] for _ in range(COLD_RUNS))
        )
        cold = tuple(
            run(_RENDER, settings=_nothing_rendered(Path(scratch, f"cache{number}")))[0] for number in range(COLD_RUNS)
        )
        memory = most_resident_mib(_RENDER, cwd=None, settings=_nothing_rendered(Path(scratch, "cache")))
        plain_memory = most_resident_mib([tool("kustomize"), "build", "."], cwd=folder, settings={})
    yield Cell("render/cold", "s", Series("modelyard render, nothing rendered before", cold), (plain,))
    yield Cell(
        "render/memory",
        "MiB",
        Series("the most resident memory of that", (memory,)),
        (Series("kustomize build", (plain_memory,)),),
        GOAL_MEMORY_MIB,
    )
    warm = Series("modelyard render, as before", repeat(_RENDER, WARM_RUNS))
    yield Cell("render/warm", "s", warm, (plain,), GOAL_WARM_SECONDS)


def _nothing_rendered(cache: Path) -> dict[str, str]:
    """Return the settings for a cache, to be made at `cache`, that has everything but rendered output."""
    cache.mkdir(parents=True)
    for name in _KEPT:
        if (cache_dir() / name).exists():
            (cache / name).symlink_to(cache_dir() / name)
    return {"MODELYARD_CACHE_DIR": str(cache)}
