"""From what is asked for to what the supervisor is to do: pure, but for the keys that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from modelyard.local.control_plane import dns
from modelyard.local.control_plane import processes as control_plane
from modelyard.local.host import network, nics
from modelyard.local.host.addresses import node_addresses
from modelyard.local.node import components as node_components
from modelyard.local.node import fake_nodes
from modelyard.local.state.layout import Layout
from modelyard.local.state.plan import Component, NodePlan, Plan
from modelyard.local.state.spec import ClusterSpec


def make_plan(spec: ClusterSpec, layout: Layout, binaries: Mapping[str, Path], pause_image: Path) -> Plan:
    """Return the supervisor's plan of the cluster `spec`.

    Args:
        spec: the cluster as asked for.
        layout: its paths.
        binaries: name to path on the machine.
        pause_image: OCI tar of the image that holds a pod's namespaces.
    """
    addresses = node_addresses(spec.nodes)
    components = [*_control_plane(spec, layout, binaries)]
    for address in addresses:
        components += node_components.components(address, pause_image=pause_image)
    return Plan(
        cgroup=layout.cgroup,
        health=str(layout.health),
        logs=str(layout.logs),
        links=network.cluster_links(addresses) + nics.switches(addresses, spec.nics),
        routes=network.cluster_routes(addresses),
        shapes=nics.cluster_shapes(addresses, spec.nics, spec.nic_mbit),
        upstream=control_plane.API_ADDRESS,
        nodes=[
            NodePlan(
                name=address.name,
                root=str(layout.node_root(address.name)),
                binds=node_components.binds(binaries),
                cgroup=node_cgroup(layout, address.name),
                setup=network.node_setup(address, addresses) + nics.node_setup(spec.nics),
                shapes=nics.node_shapes(spec.nics, spec.nic_mbit),
            )
            for address in addresses
        ],
        components=components,
    )


def node_cgroup(layout: Layout, node: str) -> str:
    """Return the cgroup of `node`, relative to each hierarchy."""
    return f"{layout.cgroup}/{node}"


def _control_plane(spec: ClusterSpec, layout: Layout, binaries: Mapping[str, Path]) -> list[Component]:
    components = [
        control_plane.etcd(binaries, layout, fsync=spec.fsync),
        control_plane.apiserver(binaries, layout),
        control_plane.controller_manager(binaries, layout),
        control_plane.scheduler(binaries, layout),
        dns.coredns(binaries, layout),
    ]
    return [*components, fake_nodes.kwok(binaries, layout)] if spec.fake_nodes else components
