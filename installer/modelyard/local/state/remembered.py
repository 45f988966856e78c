"""What is not said at `up` is as it was before."""

from __future__ import annotations

from modelyard.local.state.layout import layout
from modelyard.local.state.record import read_record
from modelyard.local.state.spec import NIC_MBIT, ClusterSpec, check_name


def spec_like_before(
    name: str,
    *,
    nodes: int | None,
    fake_nodes: int | None,
    fake_gpus: int | None,
    port: int | None,
    nics: int | None = None,
    nic_mbit: int | None = None,
    fsync: bool = True,
) -> ClusterSpec:
    """Return the spec of the cluster `name`, where None means: as at the last `up`, or the default.

    Raises:
        LocalClusterError: a name or a number is out of range.
    """
    before = read_record(layout(check_name(name)))
    return ClusterSpec(
        name=name,
        nodes=nodes if nodes is not None else (before.nodes if before else 1),
        fake_nodes=fake_nodes if fake_nodes is not None else (before.fake_nodes if before else 0),
        fake_gpus=fake_gpus if fake_gpus is not None else (before.fake_gpus if before else 0),
        nics=nics if nics is not None else (before.nics if before else 0),
        nic_mbit=nic_mbit if nic_mbit is not None else (before.nic_mbit if before else NIC_MBIT),
        port=port,
        fsync=fsync,
    )
