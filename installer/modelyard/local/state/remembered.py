"""What is not said at `up` is as it was before."""

from __future__ import annotations

from dataclasses import dataclass

from modelyard.local.state.layout import layout
from modelyard.local.state.record import read_record
from modelyard.local.state.spec import NIC_MBIT, ClusterSpec, check_name


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a cluster is to be; None: as at the last `up`, or the default.

    Args:
        nodes: its nodes.
        fake_nodes: its simulated nodes.
        fake_gpus: the GPUs of each of those.
        nics: further NICs of each node.
        nic_mbit: their rate.
    """

    nodes: int | None = None
    fake_nodes: int | None = None
    fake_gpus: int | None = None
    nics: int | None = None
    nic_mbit: int | None = None


def spec_like_before(name: str, asked: Shape, *, port: int | None, fsync: bool = True) -> ClusterSpec:
    """Return the spec of a cluster.

    Args:
        name: the cluster's.
        asked: how large it is to be.
        port: the apiserver's on this machine; None: any.
        fsync: whether etcd waits for the disk.

    Raises:
        LocalClusterError: a name or a number is out of range.
    """
    before = read_record(layout(check_name(name)))
    return ClusterSpec(
        name=name,
        nodes=_first(asked.nodes, before.nodes if before else None, 1),
        fake_nodes=_first(asked.fake_nodes, before.fake_nodes if before else None, 0),
        fake_gpus=_first(asked.fake_gpus, before.fake_gpus if before else None, 0),
        nics=_first(asked.nics, before.nics if before else None, 0),
        nic_mbit=_first(asked.nic_mbit, before.nic_mbit if before else None, NIC_MBIT),
        port=port,
        fsync=fsync,
    )


def _first(asked: int | None, before: int | None, default: int) -> int:
    return next(each for each in (asked, before, default) if each is not None)
