"""What a caller asks for, and what it gets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from modelyard.errors import LocalClusterError

DEFAULT_NAME = "modelyard"
MAX_NODES = 32
MAX_FAKE_NODES = 5000
MAX_NICS = 8
NIC_MBIT = 1000  # of a NIC whose rate nobody named
MIN_NIC_MBIT, MAX_NIC_MBIT = 10, 100_000
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSpec:
    """A cluster as asked for.

    Args:
        name: cluster name, a DNS label of at most 32 characters.
        nodes: kubelets with containers of their own.
        fake_nodes: nodes simulated by kwok: scheduled onto, but nothing runs there.
        fake_gpus: `nvidia.com/gpu` of each fake node.
        nics: network interfaces of each node (net1, net2 ...) beside the one of the pod network, each in a network of
            its own.
        nic_mbit: rate of each link of a node in Mbit/s, both ways. It counts where `nics` is not 0, and then the pod
            network's link has it too.
        port: port on 127.0.0.1 for the apiserver; None keeps the last one, or finds a free one.
        fsync: False lets etcd skip fsync: faster on slow disks, and lost only by a power cut.

    Raises:
        LocalClusterError: a name or a number is out of range.
    """

    name: str = DEFAULT_NAME
    nodes: int = 1
    fake_nodes: int = 0
    fake_gpus: int = 0
    nics: int = 0
    nic_mbit: int = NIC_MBIT
    port: int | None = None
    fsync: bool = True

    def __post_init__(self) -> None:
        check_name(self.name)
        _in_range(self.name, "nodes", self.nodes, 1, MAX_NODES)
        _in_range(self.name, "fake nodes", self.fake_nodes, 0, MAX_FAKE_NODES)
        _in_range(self.name, "fake GPUs", self.fake_gpus, 0, 1024)
        _in_range(self.name, "NICs", self.nics, 0, MAX_NICS)
        _in_range(self.name, "Mbit/s of a NIC", self.nic_mbit, MIN_NIC_MBIT, MAX_NIC_MBIT)
        if self.port is not None:
            _in_range(self.name, "port", self.port, 1, 65535)


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """A cluster that is up: `kubeconfig` is a private file, `supervisor_pid` a pid of the host."""

    name: str
    kubeconfig: Path
    port: int
    supervisor_pid: int
    already_up: bool = False


def check_name(name: str) -> str:
    """Return `name` if it can name a cluster (it becomes a folder, a cgroup and a kubeconfig context).

    Raises:
        LocalClusterError: it cannot.
    """
    if not _NAME.fullmatch(name):
        raise LocalClusterError(
            f"cluster name {name!r}",
            "a name has 1 to 32 lower-case letters, digits and inner dashes",
            "choose another --name, for example --name dev",
        )
    return name


def _in_range(name: str, what: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise LocalClusterError(
            f"cluster {name}", f"{what}: {value} is not between {low} and {high}", "give a number in that range"
        )
