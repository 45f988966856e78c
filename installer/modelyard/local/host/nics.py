"""More than one NIC a node: links of their own into switches of their own, shaped to a rate. Pure.

    node-1 net1 --- port1-1 [switch1] port2-1 --- net1 node-2
    node-1 net2 --- port1-2 [switch2] port2-2 --- net2 node-2

All of it is inside the cluster's namespaces. A NIC sends and receives at its rate: what leaves the node is shaped at
the node's end, what enters it at the switch's.
"""

from __future__ import annotations

from collections.abc import Sequence

from modelyard.local.host.addresses import NodeAddress, nic_name, nic_switch

NIC_MTU = 9000  # jumbo frames, as networks for training have them; the pod network keeps 1500
LABEL_NICS = "modelyard.dev/nics"
LABEL_MBIT = "modelyard.dev/nic-mbit"
_LATENCY_MS = 20  # most that a packet waits in a shaper
# Bytes that may pass at once: half a millisecond's worth, and two of the largest segments that the kernel hands over.
_BURST_PER_MBIT, _LEAST_BURST = 512, 128 * 1024


def switches(nodes: Sequence[NodeAddress], count: int) -> list[str]:
    """Return `ip -batch` lines for the cluster's namespace: `count` switches with a port for each node."""
    lines = []
    for nic in range(1, count + 1):
        lines += [f"link add {nic_switch(nic)} type bridge", f"link set {nic_switch(nic)} up"]
        for node in nodes:
            port = node.nic_port(nic)
            peer = f"name {nic_name(nic)} mtu {NIC_MTU} netns {{pid:{node.name}}}"
            lines.append(f"link add {port} mtu {NIC_MTU} type veth peer {peer}")
            lines.append(f"link set {port} master {nic_switch(nic)} up")
    return lines


def node_setup(count: int) -> list[str]:
    """Return `ip -batch` lines for a node's namespace. Its NICs get no address: the pods' ends of them do."""
    return [f"link set {nic_name(nic)} up" for nic in range(1, count + 1)]


def cluster_shapes(nodes: Sequence[NodeAddress], count: int, mbit: int) -> list[str]:
    """Return `tc -batch` lines for the switches' ends; none where there are no NICs."""
    links = [node.nic_port(nic) for nic in range(1, count + 1) for node in nodes]
    return [_shape(link, mbit) for link in [node.veth for node in nodes] + links] if count else []


def node_shapes(count: int, mbit: int) -> list[str]:
    """Return `tc -batch` lines for a node's ends, the pod network's among them: its link is a NIC as the others."""
    return [_shape(link, mbit) for link in ["eth0", *map(nic_name, range(1, count + 1))]] if count else []


def node_labels(node: NodeAddress, count: int, mbit: int) -> dict[str, object]:
    """Return what is applied to a node, so that jobs and tests find its NICs: labels, or none where it has none."""
    labels = {LABEL_NICS: str(count), LABEL_MBIT: str(mbit)} if count else {}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node.name, "labels": labels}}


def _shape(link: str, mbit: int) -> str:
    burst = max(_LEAST_BURST, mbit * _BURST_PER_MBIT)
    return f"qdisc add dev {link} root tbf rate {mbit}mbit burst {burst} latency {_LATENCY_MS}ms"
