"""Start the supervisor in namespaces of its own, away from the terminal."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from modelyard.errors import LocalClusterError
from modelyard.local.host.files import make_private_dir
from modelyard.local.host.procfs import ProcessId, child_of, identify
from modelyard.local.state.layout import Layout
from modelyard.local.state.logs import rotate_before_start, tail
from modelyard.local.state.record import write_supervisor

_START_SECONDS = 10.0


def launch(layout: Layout, listener: socket.socket) -> ProcessId:
    """Start the supervisor of `layout`'s plan; return which process it is.

    It waits until this process has written down which one it is, so that none is ever unknown, even if
    this process is killed in between.

    Args:
        layout: the cluster's paths; its plan is written.
        listener: the socket on the host's loopback that the supervisor will forward.

    Raises:
        LocalClusterError: it did not start.
    """
    make_private_dir(layout.logs)
    log = layout.log("supervisor")
    rotate_before_start(log)
    go_read, go_write = os.pipe()
    try:
        unshare = _start(layout, listener.fileno(), go_read, log)
        process = _wait_for_child(unshare, log)
        write_supervisor(layout, process)
        os.write(go_write, b"g")
    finally:
        os.close(go_read)
        os.close(go_write)
    return process


def _start(layout: Layout, listen_fd: int, go_fd: int, log: Path) -> subprocess.Popen[bytes]:
    argv = [
        shutil.which("unshare") or "/usr/bin/unshare",
        "--fork", "--pid", "--mount", "--net", "--ipc", "--uts", "--mount-proc", "--kill-child",
        sys.executable, "-P", "-m", "modelyard.local.supervisor.main",
        str(layout.plan), str(listen_fd), str(go_fd),
    ]  # fmt: skip
    with log.open("ab") as output:
        log.chmod(0o600)
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(listen_fd, go_fd),
            cwd="/",
            env=_environment(),
            start_new_session=True,
        )


def _environment() -> dict[str, str]:
    path = os.environ.get("PATH", "")
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "LANG", "VIRTUAL_ENV") if name in os.environ}
    # A user's PATH may lack sbin, where ip and iptables are.
    return kept | {"PATH": f"{path}:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin", "HOME": "/root"}


def _wait_for_child(unshare: subprocess.Popen[bytes], log: Path) -> ProcessId:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        child = child_of(unshare.pid)
        if child is not None and (process := identify(child)) is not None:
            return process
        if unshare.poll() is not None:
            raise _failed(log, f"unshare ended with code {unshare.returncode}")
        time.sleep(0.005)  # a poll: /proc announces nothing
    unshare.kill()
    raise _failed(log, f"no supervisor after {_START_SECONDS:g} s")


def _failed(log: Path, what: str) -> LocalClusterError:
    last = " | ".join(tail(log, 3))
    return LocalClusterError("supervisor", f"{what}: {last}", "modelyard doctor")
