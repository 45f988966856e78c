"""An overlay network of pods, as a CNI plugin makes one: a bridge on each node, and a VXLAN tunnel over one NIC.

pod --- [overlay] --- vxlan1 === net1 of node-1 --- switch1 --- net1 of node-2 === vxlan1 --- [overlay] --- pod
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from network_helpers import Cluster

from modelyard.objects import Object

NIC, DEVICE, BRIDGE = "net1", "vxlan1", "overlay"
NODES = {"node-1": "10.30.0.1", "node-2": "10.30.0.2"}  # the tunnel's ends
PODS = "10.30.1.0/24"
HEADERS = 50  # bytes that VXLAN adds to a packet over IPv4: RFC 7348, section 5


@contextmanager
def overlay(cluster: Cluster, mtu: int) -> Iterator[Object]:
    """Make the network between the nodes; yield its NetworkAttachmentDefinition, and remove it afterwards.

    Args:
        cluster: its two nodes have a NIC net1.
        mtu: of the pods' interfaces in bytes.
    """
    try:
        for node, address in NODES.items():
            [peer] = [other for name, other in NODES.items() if name != node]
            cluster.inside("sh", "-ec", "\n".join(_links(address, peer, mtu)), node=node)
        yield _attachment(mtu)
    finally:
        for node, address in NODES.items():
            cluster.inside("sh", "-c", f"ip link del {DEVICE}; ip link del {BRIDGE}; "
                           f"ip addr del {address}/24 dev {NIC}; true", node=node)  # fmt: skip


def tunnelled(cluster: Cluster, node: str) -> int:
    """Return how many bytes the tunnel of a node has sent."""
    return int(cluster.inside("cat", f"/sys/class/net/{DEVICE}/statistics/tx_bytes", node=node))


def _links(address: str, peer: str, mtu: int) -> list[str]:
    tunnel = f"vxlan id 42 dev {NIC} local {address} remote {peer} dstport 4789"
    return [
        f"ip addr add {address}/24 dev {NIC}",
        f"ip link add {BRIDGE} mtu {mtu} type bridge",
        f"ip link add {DEVICE} mtu {mtu} type {tunnel}",
        f"ip link set {DEVICE} master {BRIDGE} up",
        f"ip link set {BRIDGE} up",
    ]


def _attachment(mtu: int) -> Object:
    ipam = {"type": "whereabouts", "range": PODS}
    config = {"cniVersion": "1.0.0", "name": BRIDGE, "type": "bridge", "bridge": BRIDGE, "mtu": mtu, "ipam": ipam}
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": BRIDGE},
        "spec": {"config": json.dumps(config)},
    }
