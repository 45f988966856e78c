"""A node's namespaces: made by a process that then only holds them."""

from __future__ import annotations

import os
import shutil
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from modelyard.local.host import linux, modules
from modelyard.local.node import mounts as node_mounts
from modelyard.local.state.plan import NodePlan

_NAMESPACES = linux.CLONE_NEWNS | linux.CLONE_NEWNET | linux.CLONE_NEWUTS


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a node's namespaces; `ready` is readable once they are complete."""

    node: NodePlan
    pid: int
    ready: int

    def wait(self) -> None:
        """Wait until the namespaces are complete.

        Raises:
            RuntimeError: the process ended before.
        """
        with os.fdopen(self.ready, "rb") as stream:
            if stream.read() != b"ready":
                raise RuntimeError(f"node {self.node.name}: its namespaces could not be made (see above)")


def start_holder(node: NodePlan) -> Holder:
    """Fork the holder of `node`'s namespaces.

    Fork without exec is safe here: the supervisor has one thread, and does this before its event loop.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _hold(node, writer)
    os.close(writer)
    return Holder(node, pid, reader)


def enter_command(pid: int) -> list[str]:
    """Return the command prefix that enters the namespaces held by `pid` (same pid namespace)."""
    return [nsenter(), f"--target={pid}", "--mount", "--net", "--uts", "--wd=/", "--"]


def nsenter() -> str:
    """Return the path of util-linux's nsenter."""
    return shutil.which("nsenter") or "/usr/bin/nsenter"


def _hold(node: NodePlan, writer: int) -> None:
    """Become the holder. Does not return."""
    sleep = shutil.which("sleep") or "/usr/bin/sleep"
    try:
        os.setsid()
        linux.unshare(_NAMESPACES)
        linux.set_hostname(node.name)
        node_mounts.enter(node)
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        modules.filter_bridged_packets()
        os.write(writer, b"ready")
        os.closerange(3, 256)
        os.execv(sleep, ["sleep", "infinity"])
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(1)
