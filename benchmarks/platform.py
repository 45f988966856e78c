"""The whole platform with warm caches: ours, and the retry loop with the same objects and images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import idle, retry_loop
from benchmarks.cell import Cell, Series
from benchmarks.commands import MODELYARD
from benchmarks.embedded import Cluster, fresh_cluster
from benchmarks.manifests import controller_images, write_manifest
from benchmarks.timeline import Told, watch

# The cheap ones are run several times, in turn, so that what else the machine does meets all of them.
RUNS = 3
GOAL_AVAILABLE_SECONDS = 60.0
GOAL_AGAIN_SECONDS = 5.0
GOALS_AT_REST = idle.Goals(resident=3072.0, cpu=25.0)


def measure() -> Iterator[Cell]:
    """Yield the times of a first and of a second install, and what the platform uses when idle."""
    with TemporaryDirectory(prefix="modelyard-bench-") as scratch:
        manifest = write_manifest(Path(scratch, "all.yaml"))
        images = controller_images()
        slow = [_loop(manifest, images, retry_loop.UPSTREAM_PAUSE_SECONDS)]
        quick, new, again, rest = [], [], [], []
        for number in range(RUNS):
            quick.append(_loop(manifest, images, retry_loop.SHORT_PAUSE_SECONDS))
            with fresh_cluster("platform") as cluster:
                new.append(install(cluster, Path(scratch), "--no-smoke"))
                again.append(cluster.modelyard("install", "--no-smoke"))
                if number == RUNS - 1:
                    rest = list(idle.measure(cluster.name, profile="core", goals=GOALS_AT_REST))
        with fresh_cluster("smoke") as cluster:
            proved = install(cluster, Path(scratch))
    yield _new(new, slow, quick)
    result = Series("modelyard install, new cluster: the smoke job's result", (proved.end_of("smoke"),))
    yield Cell("platform/smoke", "s", result, parts=parts(proved))
    theirs = Series("kubectl apply --server-side, nothing to do", tuple(each.again for each in quick))
    ours = Series("modelyard install, nothing to do", tuple(again))
    yield Cell("platform/again", "s", ours, (theirs,), GOAL_AGAIN_SECONDS)
    yield from rest


@dataclass(frozen=True, slots=True)
class Loop:
    """The loop on a new cluster: seconds until all is Available, seconds of one more `kubectl apply`, its rounds."""

    new: float
    again: float
    rounds: int


def _new(told: list[Told], slow: list[Loop], quick: list[Loop]) -> Cell:
    ours = Series("modelyard install, new cluster: all components ready", tuple(map(ready, told)))
    peers = (_series(slow, retry_loop.UPSTREAM_PAUSE_SECONDS), _series(quick, retry_loop.SHORT_PAUSE_SECONDS))
    middle = sorted(told, key=ready)[len(told) // 2]
    return Cell("platform/new", "s", ours, peers, GOAL_AVAILABLE_SECONDS, parts(middle))


def _series(loops: list[Loop], pause: float) -> Series:
    rounds = sorted({loop.rounds for loop in loops})
    shown = "-".join(str(each) for each in dict.fromkeys((rounds[0], rounds[-1])))
    what = f"kubectl apply until it works ({shown} rounds, {pause:g} s between)"
    return Series(what, tuple(loop.new for loop in loops))


def ready(told: Told) -> float:
    """Return when the last component was ready: what comes after it is another figure."""
    return max(step.end for step in told.steps if step.lane == "install")


def parts(told: Told) -> dict[str, float]:
    """Return each step's seconds; steps overlap."""
    return {step.title: step.seconds for step in told.steps}


def install(cluster: Cluster, scratch: Path, *options: str) -> Told:
    """Run `modelyard install` with `options` on the cluster; return what it told, with its times."""
    return watch([MODELYARD, "install", "--name", cluster.name, *options], cluster.settings, scratch)


def _loop(manifest: Path, images: list[Path], pause: float) -> Loop:
    with fresh_cluster("loop") as cluster:
        up = cluster.modelyard("local", "up")
        loaded = cluster.modelyard("local", "load-image", *map(str, images))
        looped = retry_loop.install(cluster, manifest, pause=pause)
        again, _ = cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(manifest))
        return Loop(up + loaded + looped.available, again, looped.rounds)
