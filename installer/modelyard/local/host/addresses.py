"""The cluster's addresses.

All of them are inside the cluster's network namespaces, so every cluster has the same and none can meet
one of the host's.
"""

from __future__ import annotations

from dataclasses import dataclass

BRIDGE = "br0"
NODE_PREFIX = 16
GATEWAY = "10.10.0.1"  # the cluster's own namespace: control plane and CoreDNS
SERVICE_CIDR = "10.96.0.0/16"
KUBERNETES_SERVICE = "10.96.0.1"
DNS_SERVICE = "10.96.0.10"
POD_CIDR = "10.244.0.0/16"
FAKE_POD_CIDR = "10.245.0.1/16"
API_PORT = 6443
DNS_DOMAIN = "cluster.local"


@dataclass(frozen=True, slots=True)
class NodeAddress:
    """Name and addresses of node number `index` (from 1)."""

    index: int

    @property
    def name(self) -> str:
        """Node name."""
        return f"node-{self.index}"

    @property
    def ip(self) -> str:
        """Node IP, on the bridge."""
        return f"10.10.1.{self.index}"

    @property
    def pod_cidr(self) -> str:
        """The node's share of the pod network."""
        return f"10.244.{self.index}.0/24"

    @property
    def veth(self) -> str:
        """The bridge's end of the node's link."""
        return f"veth{self.index}"

    def nic_port(self, nic: int) -> str:
        """The switch's end of the node's NIC number `nic` (from 1): what a cable is plugged into."""
        return f"port{self.index}-{nic}"


def nic_name(nic: int) -> str:
    """Return what every node calls its NIC number `nic` (from 1)."""
    return f"net{nic}"


def nic_switch(nic: int) -> str:
    """Return the bridge that connects the NICs number `nic` of all nodes, and nothing else."""
    return f"switch{nic}"


def node_addresses(count: int) -> list[NodeAddress]:
    """Return the addresses of `count` nodes."""
    return [NodeAddress(index) for index in range(1, count + 1)]
