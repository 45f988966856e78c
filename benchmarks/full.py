"""Every component that the embedded cluster can have, with warm caches: until all are ready, and at rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import idle
from benchmarks.cell import Cell, Series
from benchmarks.embedded import fresh_cluster
from benchmarks.platform import install, parts, ready

GOALS_AT_REST = idle.Goals(resident=12 * 1024.0, cpu=40.0)


def measure() -> Iterator[Cell]:
    """Yield the time of a first install of profile `full`, and what it uses when idle."""
    with TemporaryDirectory(prefix="modelyard-bench-") as scratch, fresh_cluster("full") as cluster:
        told = install(cluster, Path(scratch), "--profile", "full", "--no-smoke")
        rest = list(idle.measure(cluster.name, profile="full", goals=GOALS_AT_REST))
    what = Series("modelyard install --profile full, new cluster: all components ready", (ready(told),))
    yield Cell("platform/full", "s", what, parts=parts(told))
    yield from rest
