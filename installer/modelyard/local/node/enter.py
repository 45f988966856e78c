"""Run a command inside a cluster."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import IO

from modelyard.errors import LocalClusterError
from modelyard.local.host.files import read_json
from modelyard.local.host.procfs import ProcessId
from modelyard.local.node.components import BIN
from modelyard.local.node.nodes import enter_command, nsenter
from modelyard.local.state.layout import Layout, layout
from modelyard.local.state.record import running_supervisor
from modelyard.local.state.spec import check_name

_PATH = f"{BIN}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def exec_in(
    name: str,
    node: str | None,
    argv: Sequence[str],
    *,
    stdin: IO[bytes] | int | None = None,
    capture: bool = False,
    seconds: float | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run `argv` inside the cluster `name` and return how it ended.

    Args:
        name: the cluster's.
        node: a node's name, or None for the control plane's namespaces.
        argv: the command; containerd's `ctr` and `kubectl` are on a node's PATH.
        stdin: its standard input; None for this process's.
        capture: whether to return its output instead of showing it.
        seconds: how long it may take; None for as long as it likes.

    Raises:
        LocalClusterError: the cluster is not up, or has no such node, or the command took too long and was ended.
    """
    output = subprocess.PIPE if capture else None
    command = [*enter_prefix(name, node), *argv]
    environment = {**os.environ, "PATH": _PATH, "HOME": "/root"}
    try:
        return subprocess.run(
            command, stdin=stdin, stdout=output, stderr=output, env=environment, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired as error:
        raise LocalClusterError(
            f"{argv[0]} on {node or 'the control plane'} of cluster {name}",
            f"it did not end in {seconds:g} s, and was ended",
            f"modelyard local status --name {name}",
        ) from error


def enter_prefix(name: str, node: str | None) -> list[str]:
    """Return the command that enters the cluster `name`, and in it `node`.

    Raises:
        LocalClusterError: the cluster is not up, or has no such node.
    """
    where = layout(check_name(name))
    process = require_running(where)
    cluster = [nsenter(), f"--target={process.pid}", "--pid", "--mount", "--net", "--ipc", "--uts", "--wd=/", "--"]
    if node is None:
        return cluster
    holders = node_holders(where)
    if node not in holders:
        raise LocalClusterError(
            f"node {node}", f"cluster {name} has {', '.join(sorted(holders))}", "choose one of them"
        )
    return cluster + enter_command(holders[node])


def require_running(where: Layout) -> ProcessId:
    """Return the cluster's supervisor.

    Raises:
        LocalClusterError: it does not run.
    """
    process = running_supervisor(where)
    if process is None:
        raise LocalClusterError(f"cluster {where.name}", "it is not up", f"modelyard local up --name {where.name}")
    return process


def node_holders(where: Layout) -> dict[str, int]:
    """Return the process that holds each node's namespaces, by its pid inside the cluster."""
    nodes = (read_json(where.health) or {}).get("nodes")
    return {str(name): int(pid) for name, pid in nodes.items()} if isinstance(nodes, dict) else {}
