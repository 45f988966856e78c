"""`make bench`: everything that can be measured with warm caches. `--only startup` for one part of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping

from benchmarks import cluster, full, platform, rendering, report, startup
from benchmarks.cell import Cell

PARTS: Mapping[str, Callable[[], Iterator[Cell]]] = {
    "startup": startup.measure,
    "render": rendering.measure,
    "cluster": cluster.measure,
    "platform": platform.measure,
    "full": full.measure,
}


def main() -> None:
    """Measure, print the table, write bench-results/warm.json."""
    parser = argparse.ArgumentParser(prog="benchmarks.warm", description=__doc__)
    parser.add_argument("--only", choices=sorted(PARTS), action="append", help="measure this part; may be given again")
    chosen = parser.parse_args().only or list(PARTS)
    before, cells = report.machine(), []
    for name in PARTS:
        if name in chosen:
            print(f"measuring {name}", file=sys.stderr, flush=True)
            cells += list(PARTS[name]())
    report.show(cells)
    print(report.save("warm" if len(chosen) == len(PARTS) else "warm-" + "-".join(chosen), before, cells))


if __name__ == "__main__":
    main()
