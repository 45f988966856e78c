"""The cluster's links and routes, all inside its own namespaces."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from modelyard.local.host.addresses import BRIDGE, GATEWAY, NODE_PREFIX, NodeAddress
from modelyard.programs import run

_BATCH_SECONDS = 120.0  # of hundreds of links, on a busy machine


def cluster_links(nodes: Sequence[NodeAddress]) -> list[str]:
    """Return `ip -batch` lines for the cluster's namespace; "{pid:NODE}" stands for a node's process."""
    lines = [
        "link set lo up",
        f"link add {BRIDGE} type bridge",
        f"addr add {GATEWAY}/{NODE_PREFIX} dev {BRIDGE}",
        f"link set {BRIDGE} up",
    ]
    for node in nodes:
        lines.append(f"link add {node.veth} type veth peer name eth0 netns {{pid:{node.name}}}")
        lines.append(f"link set {node.veth} master {BRIDGE} up")
    return lines


def cluster_routes(nodes: Sequence[NodeAddress]) -> list[str]:
    """Return `ip -batch` lines that lead from the control plane to the pods of each node."""
    return [f"route add {node.pod_cidr} via {node.ip}" for node in nodes]


def node_setup(node: NodeAddress, nodes: Sequence[NodeAddress]) -> list[str]:
    """Return `ip -batch` lines for the namespace of `node`, one of `nodes`."""
    lines = [
        "link set lo up",
        f"addr add {node.ip}/{NODE_PREFIX} dev eth0",
        "link set eth0 up",
        f"route add default via {GATEWAY}",
    ]
    lines += [f"route add {other.pod_cidr} via {other.ip}" for other in nodes if other != node]
    return lines


def run_batch(lines: Sequence[str], *, tool: str = "ip", prefix: Sequence[str] = ()) -> None:
    """Run `ip -batch` or `tc -batch` with `lines`, behind the command `prefix` (nsenter).

    Raises:
        RuntimeError: the tool refused a line; the error holds what it said.
    """
    if not lines:
        return
    program = shutil.which(tool) or f"/usr/sbin/{tool}"
    done = run([*prefix, program, "-batch", "-"], stdin="\n".join(lines), seconds=_BATCH_SECONDS)
    if done.problem:
        raise RuntimeError(f"{tool} -batch: {done.stderr.strip() or done.problem}")


def forward_packets() -> None:
    """Let this network namespace forward packets between its links."""
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
