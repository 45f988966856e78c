"""`make bench-cold`: from empty caches to the smoke job's result, and where the time goes.

In the same run the shared Go module is compiled alone, from an empty build cache, for the ratio. Everything is
written to a folder of its own, which is removed; it takes some 25 GB of disk while it runs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

from rich.console import Console
from rich.table import Table

from benchmarks import compile as compiling
from benchmarks import report
from benchmarks.cell import Cell, Series
from benchmarks.commands import MODELYARD, run
from benchmarks.embedded import Cluster, fresh_cluster
from benchmarks.platform import parts
from benchmarks.space import disk_gib, watched_memory
from benchmarks.timeline import Step, Told, watch
from modelyard.catalog import load
from modelyard.local.build.toolchain import find_go
from modelyard.local.state.layout import layout
from modelyard.paths import data_root

GOAL_SECONDS = 900.0
GOAL_RATIO = 1.4


def main() -> None:
    """Measure, print the table and the timeline, write bench-results/cold.json."""
    parser = argparse.ArgumentParser(prog="benchmarks.cold", description=__doc__)
    parser.add_argument("--dir", type=Path, help="where the caches are made  [default: the system's temporary folder]")
    chosen = parser.parse_args().dir
    scratch = Path(mkdtemp(prefix="modelyard-bench-cold-", dir=chosen))
    try:
        _measure(scratch)
    finally:
        run(["chmod", "--recursive", "u+w", scratch])  # Go keeps its module cache read-only
        run(["rm", "--recursive", "--force", scratch])


def _measure(scratch: Path) -> None:
    before = report.machine()
    with fresh_cluster("cold") as cluster, watched_memory() as memory:
        told = _install(cluster, scratch)
        disk = _disk(cluster, scratch / "cache")
    _say(f"smoke job's result after {told.end_of('smoke'):.0f} s; compiling alone begins")
    pure = _compile_alone(scratch)
    most = Series("memory in use while it installs, at most", (memory.most,))
    taken = Series("disk that it takes in the end", (sum(disk.values()),))
    cells = [*_cells(told, pure), Cell("cold/memory", "GiB", most), Cell("cold/disk", "GiB", taken, parts=disk)]
    report.show(cells)
    _show_timeline(told.steps)
    print(report.save("cold", before, cells))


def _install(cluster: Cluster, scratch: Path) -> Told:
    argv: list[str | Path] = [MODELYARD, "install", "--name", cluster.name, "--cache-dir", scratch / "cache"]
    settings = {"MODELYARD_CACHE_DIR": str(scratch / "cache")}
    return watch(argv, cluster.settings | settings, scratch)


def _disk(cluster: Cluster, cache: Path) -> dict[str, float]:
    """Return the disk that the caches and the cluster take, in GiB, by folder."""
    folders = {
        "the cluster": layout(cluster.name).root,
        "Go modules": cache / "go/mod",
        "Go builds": cache / "go/build",
    }
    return {name: disk_gib(folder) for name, folder in (folders | {"the store": cache / "store"}).items()}


def _compile_alone(scratch: Path) -> float:
    catalog = load(data_root())
    wanted = compiling.binaries(catalog, catalog.profile("local", "core"))
    go = find_go(scratch / "cache")
    return compiling.pure_seconds(wanted, go, scratch / "cache/go/mod", scratch / "alone", _say)


def _cells(told: Told, pure: float) -> list[Cell]:
    alone = Series("go build of the shared module alone", (pure,))
    result = told.end_of("smoke")
    whole = Series("modelyard install, empty caches: the smoke job's result", (result,))
    ratio = Series("that, as a multiple of compiling alone", (result / pure,))
    end = Series("modelyard install, empty caches: its end", (told.seconds,))
    return [
        Cell("cold/smoke", "s", whole, (alone,), GOAL_SECONDS, parts(told)),
        Cell("cold/ratio", "x", ratio, goal=GOAL_RATIO),
        Cell("cold/end", "s", end, (alone,)),
    ]


def _show_timeline(steps: Sequence[Step]) -> None:
    table = Table("step", "begins (s)", "ends (s)", "takes (s)")
    for step in sorted(steps, key=lambda each: (each.begin, each.end, each.key)):
        table.add_row(step.title, f"{step.begin:.1f}", f"{step.end:.1f}", f"{step.seconds:.1f}")
    Console(width=None if sys.stdout.isatty() else 100).print(table)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
