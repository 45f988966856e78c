"""From overlays to objects: `modelyard render` beside plain `kustomize build` of the same overlays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.cell import Cell, Series
from benchmarks.commands import MODELYARD, repeat, run
from benchmarks.staged import stage
from benchmarks.tools import tool
from modelyard.paths import cache_dir

WARM_RUNS = 9
COLD_RUNS = 3
GOAL_WARM_SECONDS = 0.3
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
        cold = tuple(_cold(Path(scratch, f"cache{number}")) for number in range(COLD_RUNS))
    yield Cell("render/cold", "s", Series("modelyard render, nothing rendered before", cold), (plain,))
    warm = Series("modelyard render, as before", repeat(_RENDER, WARM_RUNS))
    yield Cell("render/warm", "s", warm, (plain,), GOAL_WARM_SECONDS)


def _cold(cache: Path) -> float:
    cache.mkdir(parents=True)
    for name in _KEPT:
        if (cache_dir() / name).exists():
            (cache / name).symlink_to(cache_dir() / name)
    return run(_RENDER, settings={"MODELYARD_CACHE_DIR": str(cache)})[0]
