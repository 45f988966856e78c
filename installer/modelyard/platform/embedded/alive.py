"""A cluster that ends in mid-install ends the install at once, with one message."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from modelyard.apply.run import StoppedError
from modelyard.errors import ApplyError, ClusterUnreachableError, HostError, LocalClusterError, NotReadyError
from modelyard.local.state.layout import Layout
from modelyard.local.state.logs import tail
from modelyard.local.state.record import running_supervisor

ASK_SECONDS = 0.5
FULL_BYTES = 4 << 20


@contextmanager
def alive(cluster: Layout, stop: Callable[[], None]) -> Iterator[threading.Event]:
    """Watch, while inside, that the supervisor of a cluster runs; give what is set once it does not.

    Args:
        cluster: the cluster's paths.
        stop: called when the supervisor has ended, from another thread; is to make an end of what goes on inside.

    Raises:
        LocalClusterError: it has, and what goes on inside failed.
        HostError: what goes on inside failed, and the disk of the cluster's state is full.
    """
    gone, left = threading.Event(), threading.Event()

    def watch() -> None:
        while not left.wait(ASK_SECONDS):
            if running_supervisor(cluster) is None:
                gone.set()
                stop()
                return

    watching = threading.Thread(target=watch, name="alive", daemon=True)
    watching.start()
    try:
        yield gone
    except (ApplyError, ClusterUnreachableError, LocalClusterError, NotReadyError, StoppedError) as error:
        if shutil.disk_usage(cluster.root).free < FULL_BYTES:  # etcd ends, or answers nothing but errors
            raise _full(cluster) from error
        if running_supervisor(cluster) is None:
            raise _ended(cluster) from error
        raise
    finally:
        left.set()
        watching.join()


def _full(cluster: Layout) -> HostError:
    return HostError(
        f"disk of {cluster.root}",
        f"is full, and cluster {cluster.name} keeps its state there",
        f"free space (df -h {cluster.root}; modelyard local prune), then modelyard install --name {cluster.name}: it "
        "goes on where it was",
    )


def _ended(cluster: Layout) -> LocalClusterError:
    last = (tail(cluster.log("supervisor"), 1) or ["its log is empty"])[0]
    return LocalClusterError(
        f"cluster {cluster.name}",
        f"ended while the platform was being installed on it; the supervisor's last words: {last}",
        f"modelyard install --name {cluster.name} brings it back and goes on: what was compiled is kept; why it ended: "
        f"modelyard local logs --name {cluster.name}",
    )
