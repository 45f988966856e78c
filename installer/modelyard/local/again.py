"""A cluster that was there before, reached before anything is decided: it knows what was chosen for it."""

from __future__ import annotations

from pathlib import Path

from modelyard.cluster import Session, connect
from modelyard.events import Emit
from modelyard.local.artifacts.cluster_set import cluster_binaries
from modelyard.local.artifacts.debian import ensure_host_packages
from modelyard.local.runtime import ClusterSpec, up
from modelyard.local.runtime.bring_up import fit_host
from modelyard.local.runtime.layout import layout
from modelyard.local.runtime.record import read_record, running_supervisor


def reconnect(spec: ClusterSpec, cache: Path, emit: Emit, *, timeout: float) -> Session | None:
    """Return a session with the cluster, brought back up where it is down; None if it was never there.

    Args:
        spec: the cluster, as it is to be.
        cache: the cache folder.
        emit: takes the events.
        timeout: seconds for it to become ready, where it is down.

    Raises:
        ModelyardError: it cannot be brought up, or does not answer.
    """
    paths = layout(spec.name)
    if read_record(paths) is None:
        return None
    if running_supervisor(paths) is None:
        ensure_host_packages(emit)
        fit_host(spec.name, cache)  # before minutes of compiling
        binaries, pause_image = cluster_binaries(cache, emit)
        up(spec, binaries, pause_image, emit, timeout=timeout)
    return connect(paths.kubeconfig)
