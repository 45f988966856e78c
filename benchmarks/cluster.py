"""The embedded cluster: from the command to a node that is Ready, and from there to a pod that runs."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cell import Cell, Series
from benchmarks.embedded import fresh_cluster

RUNS = 3
GOAL_READY_SECONDS = 5.0
GOAL_POD_SECONDS = 2.0


def measure() -> Iterator[Cell]:
    """Yield the times of a cluster that is new, and of one that comes back with its data."""
    new, new_pod, again, again_pod = [], [], [], []
    for number in range(RUNS):
        with fresh_cluster(f"up{number}") as cluster:
            new.append(cluster.modelyard("local", "up"))
            new_pod.append(cluster.start_pod("first"))
            cluster.modelyard("local", "down")
            again.append(cluster.modelyard("local", "up"))
            again_pod.append(cluster.start_pod("second"))
    yield _cell("cluster/new/ready", "modelyard local up, new: node Ready", new, GOAL_READY_SECONDS)
    yield _cell("cluster/new/pod", "from there to a first pod that runs", new_pod, GOAL_POD_SECONDS)
    yield _cell("cluster/again/ready", "modelyard local up after down: node Ready", again, GOAL_READY_SECONDS)
    yield _cell("cluster/again/pod", "from there to a new pod that runs", again_pod, GOAL_POD_SECONDS)


def _cell(name: str, what: str, seconds: list[float], goal: float) -> Cell:
    return Cell(name, "s", Series(what, tuple(seconds)), goal=goal)
