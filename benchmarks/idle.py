"""What an installed platform uses while nobody uses it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.cell import Cell, Series
from benchmarks.processes import cpu_by_name, cpu_total, resident_by_name

# Controllers that have just started still list and watch.
SETTLING_SECONDS = 60.0
SECONDS = 60.0
# Smaller parts than this are summed up as "others".
SMALL_MIB = 10.0


@dataclass(frozen=True, slots=True)
class Goals:
    """What a platform should stay within: resident memory in MiB, CPU in percent of a core."""

    resident: float
    cpu: float


def measure(cluster: str, *, profile: str, goals: Goals) -> Iterator[Cell]:
    """Yield memory and CPU of the platform on `cluster`, its pods among them; cells `idle/<profile>/rss` and `/cpu`."""
    time.sleep(SETTLING_SECONDS)
    began, total, by_name = time.monotonic(), cpu_total(cluster), cpu_by_name(cluster)
    time.sleep(SECONDS)
    seconds = time.monotonic() - began
    used = 100 * (cpu_total(cluster) - total) / seconds
    parts = {name: 100 * (now - by_name.get(name, 0.0)) / seconds for name, now in cpu_by_name(cluster).items()}
    resident = resident_by_name(cluster)
    what = f"after {SETTLING_SECONDS:.0f} s of rest"
    memory = Series(f"{profile}: resident memory {what}", (sum(resident.values()),))
    cpu = Series(f"{profile}: CPU over {SECONDS:.0f} s {what}", (used,))
    yield Cell(f"idle/{profile}/rss", "MiB", memory, (), goals.resident, _sorted(resident, SMALL_MIB))
    yield Cell(f"idle/{profile}/cpu", "% of a core", cpu, (), goals.cpu, _sorted(parts, 0.1))


def _sorted(parts: dict[str, float], small: float) -> dict[str, float]:
    """Return the parts, the largest first; what is small, summed up at the end."""
    large = {name: value for name, value in sorted(parts.items(), key=lambda part: -part[1]) if value >= small}
    rest = sum(value for name, value in parts.items() if name not in large)
    return {**large, "others": rest}
