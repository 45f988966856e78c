"""The binaries that an embedded cluster runs, as one set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from modelyard.events import Emit
from modelyard.local.build import debian
from modelyard.local.build.binaries import CONTROL_PLANE
from modelyard.local.build.images import PAUSE
from modelyard.local.build.queue import BuildQueue
from modelyard.local.build.store import Store
from modelyard.local.build.toolchain import find_go

_RUNTIME_PATHS: Mapping[str, str] = {
    "containerd": "usr/bin/containerd",
    "containerd-shim-runc-v2": "usr/bin/containerd-shim-runc-v2",
    "ctr": "usr/bin/ctr",
    "runc": "usr/sbin/runc",
}


def cluster_binaries(cache: Path, emit: Emit) -> tuple[Mapping[str, Path], Path]:
    """Return the path of each binary by name, and the pause image's archive; builds what is missing.

    What building and running them need of the machine is there already (debian.ensure_host_packages).

    Args:
        cache: the cache folder.
        emit: receives a step for each thing that has to be built.

    Raises:
        BuildError: something cannot be built.
    """
    queue = BuildQueue(find_go(cache), cache, emit)
    try:
        return request_set(queue)()
    finally:
        queue.close(cancel=True)


def request_set(queue: BuildQueue) -> Callable[[], tuple[Mapping[str, Path], Path]]:
    """Ask `queue` for the whole set, in the order in which a cluster needs it; return what waits for it."""
    compiled = {binary.name: queue.binary(binary) for binary in CONTROL_PLANE}
    pause = queue.image(PAUSE)

    def wait() -> tuple[Mapping[str, Path], Path]:
        runtime = runtime_binaries(queue.store)
        return {name: future.result() for name, future in compiled.items()} | runtime, pause.result()

    return wait


def runtime_binaries(store: Store) -> dict[str, Path]:
    """Return containerd's and runc's binaries."""
    unpacked = debian.unpack_runtime(store)
    return {name: unpacked / path for name, path in _RUNTIME_PATHS.items()}
