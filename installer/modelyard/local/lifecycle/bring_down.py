"""`modelyard local down`: end a cluster, keep its data or delete it."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass

from modelyard.errors import LocalClusterError
from modelyard.local.host.cgroups import find_cgroups, sweep
from modelyard.local.host.files import locked
from modelyard.local.host.procfs import ProcessId, is_alive
from modelyard.local.state.layout import Layout, is_cluster, layout
from modelyard.local.state.record import running_supervisor
from modelyard.local.state.spec import check_name
from modelyard.programs import run

_STOP_SECONDS = 20.0
_KILL_SECONDS = 10.0
_DELETE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class DownResult:
    """What `down` found and did: was the cluster running, did it end by itself, was state deleted."""

    was_running: bool
    cleanly: bool
    deleted: bool


def down(name: str, *, delete: bool = False) -> DownResult:
    """End the cluster `name`; with `delete`, remove its state too. One that is down is left so.

    Raises:
        LocalClusterError: there is no such cluster, another command works on it, or it does not end or cannot be
            deleted.
    """
    where = layout(check_name(name))
    if not where.root.is_dir():
        raise LocalClusterError(f"cluster {name}", "there is no such cluster", "modelyard local status --all")
    if not is_cluster(where.root):
        raise LocalClusterError(
            f"cluster {name}",
            f"there is no such cluster: {where.root} was not made by `modelyard local up`, and is left as it is",
            "modelyard local status --all",
        )
    try:
        with locked(where.lock):
            process = running_supervisor(where)
            cleanly = stop_supervisor(process, at_once=delete) if process else True
            sweep(find_cgroups())
            if delete:
                _delete(where)
    except BlockingIOError as error:
        raise LocalClusterError(
            f"cluster {name}",
            "another `modelyard local` command is bringing it up or down",
            "wait until it has ended, then run this again",
        ) from error
    return DownResult(process is not None, cleanly, delete)


def _delete(where: Layout) -> None:
    # Not shutil.rmtree: pods may nest folders deeper than it can follow. rm follows no link, and stops at mounts.
    done = run(["rm", "--recursive", "--force", "--one-file-system", "--", where.root], seconds=_DELETE_SECONDS)
    if done.problem:
        raise LocalClusterError(
            f"cluster {where.name}",
            f"it has ended, but its files cannot be removed: {done.problem}",
            f"rm -rf {where.root}",
        )


def stop_supervisor(process: ProcessId, *, at_once: bool = False) -> bool:
    """End a supervisor and with it all that runs in its namespaces; return whether that went cleanly.

    With `at_once` nothing gets time to put its affairs in order: for a cluster whose data goes with it.

    Raises:
        LocalClusterError: it lives on even after SIGKILL.
    """
    if not at_once and _end(process, signal.SIGTERM, _STOP_SECONDS):
        return True
    if _end(process, signal.SIGKILL, _KILL_SECONDS):
        return at_once
    raise LocalClusterError(
        f"supervisor {process.pid}", f"it did not end {_KILL_SECONDS:g} s after SIGKILL", "look at `dmesg`"
    )


def _end(process: ProcessId, number: signal.Signals, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    try:
        os.kill(process.pid, number)
    except ProcessLookupError:
        return True
    while is_alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)  # a poll: only a parent is told of a process's end
    return True
