from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.errors import LocalClusterError
from modelyard.local.host.addresses import node_addresses
from modelyard.local.host.nics import LABEL_MBIT, LABEL_NICS, node_labels
from modelyard.local.lifecycle.planning import make_plan
from modelyard.local.node import fake_nodes
from modelyard.local.node.components import (
    CNI_PLUGINS,
    NODE_BINARIES,
    cni_config,
    ipam_config,
    reserve_per_node,
)
from modelyard.local.state.layout import Layout
from modelyard.local.state.plan import CLUSTER, Plan, from_json, to_json
from modelyard.local.state.spec import ClusterSpec

BINARIES = {
    name: Path(f"/cache/{name}/content")
    for name in (
        "kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd", "coredns", "kwok",
        *NODE_BINARIES, *CNI_PLUGINS,
    )
}  # fmt: skip
PAUSE = Path("/cache/pause.tar")


def plan(tmp_path: Path, **shape: int) -> Plan:
    return make_plan(ClusterSpec(name="dev", **shape), Layout(tmp_path / "dev"), BINARIES, PAUSE)


@pytest.mark.parametrize("shape", [{}, {"nodes": 3}, {"fake_nodes": 2, "fake_gpus": 8}, {"nodes": 2, "nics": 2}])
def test_plan_survives_the_way_to_the_supervisor(tmp_path: Path, shape: dict[str, int]) -> None:
    made = plan(tmp_path, **shape)
    assert from_json(to_json(made)) == made


def test_an_address_can_be_freed_by_what_multus_keeps_of_the_network() -> None:
    """Of an IPAM plugin's settings it keeps the type alone; each node's are in a file of its own."""
    plugins = cni_config()["plugins"]
    assert isinstance(plugins, list)
    assert [plugin["ipam"] for plugin in plugins if "ipam" in plugin] == [{"type": "modelyard-ipam"}]
    ranges = [ipam_config(node)["ipam"]["ranges"] for node in node_addresses(2)]  # type: ignore[index]
    assert ranges == [[[{"subnet": node.pod_cidr}]] for node in node_addresses(2)]


def test_every_component_waits_only_for_what_there_is(tmp_path: Path) -> None:
    made = plan(tmp_path, nodes=2, fake_nodes=1)
    names = [component.name for component in made.components]
    nodes = {node.name for node in made.nodes}
    assert len(names) == len(set(names))
    for component in made.components:
        assert component.node in {CLUSTER, *nodes}
        assert component.name.endswith(f"@{component.node}") == (component.node != CLUSTER)
        for gate in component.gates:
            assert gate.kind in ("tcp", "unix", "done")
            assert gate.kind != "unix" or component.node in nodes
            assert gate.kind != "done" or gate.target in names


def test_kwok_runs_only_where_there_are_fake_nodes(tmp_path: Path) -> None:
    assert "kwok" not in {component.name for component in plan(tmp_path).components}
    assert "kwok" in {component.name for component in plan(tmp_path, fake_nodes=1).components}


def test_every_nic_has_a_switch_of_its_own_and_is_shaped_at_both_ends(tmp_path: Path) -> None:
    made = plan(tmp_path, nodes=2, nics=2, nic_mbit=400)
    assert "link add port2-1 mtu 9000 type veth peer name net1 mtu 9000 netns {pid:node-2}" in made.links
    assert "link set port2-1 master switch1 up" in made.links
    assert "link set port1-2 master switch2 up" in made.links
    at_the_switches = {line.split()[3] for line in made.shapes}
    assert at_the_switches == {"port1-1", "port1-2", "port2-1", "port2-2", "veth1", "veth2"}
    for node in made.nodes:
        assert {line.split()[3] for line in node.shapes} == {"eth0", "net1", "net2"}
        assert all(" rate 400mbit " in line for line in node.shapes)
        assert {"link set net1 up", "link set net2 up"} <= set(node.setup)


def test_without_nics_no_link_is_shaped(tmp_path: Path) -> None:
    made = plan(tmp_path, nodes=2)
    assert made.shapes == []
    assert all(node.shapes == [] for node in made.nodes)
    assert not any("switch" in line for line in made.links)


def test_labels_say_which_nics_a_node_has() -> None:
    [node] = node_addresses(1)
    assert node_labels(node, 2, 400)["metadata"] == {"name": "node-1", "labels": {LABEL_NICS: "2", LABEL_MBIT: "400"}}
    assert node_labels(node, 0, 400)["metadata"] == {"name": "node-1", "labels": {}}


@given(nodes=st.integers(1, 32), nics=st.integers(1, 8))
def test_every_link_has_a_name_of_its_own_that_the_kernel_takes(nodes: int, nics: int) -> None:
    made = node_addresses(nodes)
    links = [node.veth for node in made] + [node.nic_port(nic) for node in made for nic in range(1, nics + 1)]
    assert len(set(links)) == len(links)
    assert all(len(link) < 16 for link in links)  # IFNAMSIZ


def test_the_supervisors_kwok_leaves_other_simulated_nodes_alone(tmp_path: Path) -> None:
    kwok = next(each for each in plan(tmp_path, fake_nodes=1).components if each.name == "kwok")
    labels = {"modelyard.dev/simulated-by": "supervisor"}
    assert "--manage-nodes-with-label-selector=modelyard.dev/simulated-by=supervisor" in kwok.argv
    nodes = [body for path, body in fake_nodes.objects(1, gpus=0) if "/nodes/" in path]
    assert [node["metadata"]["labels"].items() >= labels.items() for node in nodes] == [True]
    assert [fake_nodes.ignored_by_supervisor(node) for node in nodes] == [False]
    others = {"metadata": {"name": "bought", "annotations": {"kwok.x-k8s.io/node": "fake"}}}
    assert fake_nodes.ignored_by_supervisor(others)
    assert not fake_nodes.ignored_by_supervisor({"metadata": {"name": "node-1"}})


def test_everything_written_is_below_the_cluster_folder(tmp_path: Path) -> None:
    made = plan(tmp_path, nodes=2)
    root = str(tmp_path / "dev")
    assert made.health.startswith(root)
    assert made.logs.startswith(root)
    assert all(node.root.startswith(root) for node in made.nodes)
    etcd = next(component for component in made.components if component.name == "etcd")
    assert any(word.startswith(f"--data-dir={root}") for word in etcd.argv)


def test_etcd_syncs_unless_told_otherwise(tmp_path: Path) -> None:
    def argv(fsync: bool) -> list[str]:
        spec = ClusterSpec(name="dev", fsync=fsync)
        return make_plan(spec, Layout(tmp_path), BINARIES, PAUSE).components[0].argv

    assert "--unsafe-no-fsync" not in argv(True)
    assert "--unsafe-no-fsync" in argv(False)


def test_clusters_of_one_name_in_two_state_folders_have_cgroups_of_their_own(tmp_path: Path) -> None:
    assert Layout(tmp_path / "a" / "dev").cgroup != Layout(tmp_path / "b" / "dev").cgroup


@given(nodes=st.integers(1, 32))
def test_nodes_have_addresses_of_their_own(nodes: int) -> None:
    made = node_addresses(nodes)
    for attribute in ("name", "ip", "pod_cidr", "veth"):
        assert len({getattr(node, attribute) for node in made}) == nodes


@given(cpus=st.integers(1, 256), memory=st.integers(2048, 4_000_000), nodes=st.integers(1, 32))
def test_nodes_together_offer_what_the_machine_has_left(cpus: int, memory: int, nodes: int) -> None:
    reserve = reserve_per_node(cpus, memory, nodes)
    offered_cpu = nodes * (1000 * cpus - reserve.milli_cpu)
    offered_memory = nodes * (memory - reserve.memory_mib)
    assert 0 < offered_cpu < 1000 * cpus
    assert 0 < offered_memory < memory
    assert offered_cpu >= 0.9 * 1000 * cpus - nodes  # rounding costs at most a thousandth a node
    assert offered_memory >= 0.75 * memory - nodes


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a_b", "a" * 33, "../x", "a/b"])
def test_names_that_cannot_be_a_folder_and_a_context_are_refused(name: str) -> None:
    with pytest.raises(LocalClusterError, match="cluster name"):
        ClusterSpec(name=name)


@pytest.mark.parametrize(
    ("shape", "what"),
    [
        ({"nodes": 0}, "nodes"),
        ({"nodes": 33}, "nodes"),
        ({"fake_nodes": -1}, "fake nodes"),
        ({"port": 70000}, "port"),
        ({"nics": 9}, "NICs"),
        ({"nic_mbit": 9}, "Mbit/s of a NIC"),
    ],
)
def test_numbers_out_of_range_are_named(shape: dict[str, int], what: str) -> None:
    with pytest.raises(LocalClusterError, match=f"{what}: -?[0-9]+ is not between"):
        ClusterSpec(name="dev", **shape)
