"""Which NICs of the nodes are up, as the kernel says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from modelyard.local.host.addresses import nic_name, node_addresses
from modelyard.local.state.record import Record

_UP = 0x1  # IFF_UP of linux/if.h: whether somebody switched it on


@dataclass(frozen=True, slots=True)
class NicHealth:
    """A node's NIC; `reason` says why it is not up."""

    node: str
    name: str
    up: bool
    reason: str


def nic_health(record: Record, holders: Mapping[str, int]) -> tuple[NicHealth, ...]:
    """Return the state of every NIC that the cluster was given.

    Args:
        record: the cluster's shape.
        holders: node name -> pid, as this process sees it, of the one that holds the node's namespaces.
    """
    return tuple(
        _nic(node.name, nic_name(nic), holders.get(node.name))
        for node in node_addresses(record.nodes)
        for nic in range(1, record.nics + 1)
    )


def _nic(node: str, name: str, holder: int | None) -> NicHealth:
    # The node's /sys shows the links of its own network namespace.
    # Source: Documentation/ABI/testing/sysfs-class-net of the kernel (operstate, flags).
    folder = Path(f"/proc/{holder}/root/sys/class/net/{name}")
    try:
        state, flags = (folder / "operstate").read_text().strip(), int((folder / "flags").read_text(), 16)
    except OSError:
        return NicHealth(node, name, up=False, reason="is gone")
    if state == "up":
        return NicHealth(node, name, up=True, reason="")
    return NicHealth(node, name, up=False, reason="has no carrier" if flags & _UP else "is switched off")
