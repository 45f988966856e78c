"""Two nodes with two shaped NICs each: the conformance suite's area `network` on them, an overlay, a NIC that fails.

A cluster of its own, so it is left to `make test-full`. All that use it are in this file: xdist gives each file a
process, and each process would bring the cluster up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from network_helpers import MBIT, Cluster
from overlay import BRIDGE, HEADERS, overlay, tunnelled

from conformance import network
from conformance.support import nics as example
from conformance.support.kinds import POD
from conformance.support.pods import pod_spec, sleeper
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace, open_workspace
from modelyard.cluster import connect
from modelyard.local.host.nics import NIC_MTU
from modelyard.local.state.layout import layout
from modelyard.objects import Object, dig, mappings, text

pytestmark = [pytest.mark.long, pytest.mark.cluster]
PATIENCE = "10"  # seconds of an all-reduce, after which the NIC counts as lost
RATIO = 1.8  # of the bandwidth: two NICs, without encapsulation, on a machine that others use too
ETHERNET_MTU = 1500
CABLE = "port2-2"  # the switch's end of node-2's NIC net2


@pytest.fixture
def workspace(nics: Cluster) -> Iterator[Workspace]:
    session = connect(layout(nics.name).kubeconfig)
    workspace = open_workspace(session, area="network")
    yield workspace
    session.delete(workspace.ref)


def test_the_conformance_area_passes_with_nics(nics: Cluster, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    done = nics("conformance", "--area", "network", "--junit", str(report), seconds=900, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout  # those of NICs; that of the queue needs Kueue, which is not there


def test_the_address_of_a_pod_is_free_again_once_it_is_gone(nics: Cluster, workspace: Workspace) -> None:
    """Under Multus too, which tells host-local less when a pod goes than when it came."""
    before = _leases(nics)
    spec = {**pod_spec(sleeper(cpu="10m")), "nodeName": "node-1"}
    workspace.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "short"}, "spec": spec})
    wait_for("the pod has an address", lambda: text(workspace.get(POD, "short"), "status", "podIP"), bool)
    assert len(_leases(nics)) == len(before) + 1
    workspace.delete(POD, "short")
    wait_for("its address is free", lambda: _leases(nics), lambda leases: leases == before)


def _leases(nics: Cluster) -> set[str]:
    """Return the addresses of node-1 that host-local has given away."""
    listed = nics.inside("ls", "/run/cni-ipam-state/modelyard", node="node-1").split()
    return {name for name in listed if name[0].isdigit()}


def test_a_nic_that_fails_is_named_by_status_and_by_the_job(nics: Cluster, workspace: Workspace) -> None:
    """The job cannot go on over it: it fails, and says which NIC of which pod."""
    example.start(workspace, ROUNDS="10000", MEBIBYTES="4", PATIENCE=PATIENCE)
    wait_for("both ranks are at work", lambda: [_rounds(workspace, pod) for pod in example.pods(workspace)], _at_work)
    assert nics("local", "status").stdout.count("NICs: net1 up, net2 up") == 2
    nics.inside("ip", "link", "set", CABLE, "down")
    try:
        failed = nics("local", "status", check=False)
        assert failed.returncode == 1
        assert "not ready: NIC net2 of node node-2 has no carrier" in failed.stdout
        document = json.loads(nics("local", "status", "-o", "json", check=False).stdout)
        down = [(nic["node"], nic["name"]) for nic in document["nics"] if not nic["up"]]
        assert down == [("node-2", "net2")]
        told = {text(pod, "spec", "nodeName"): _told(pod) for pod in example.ended(workspace)}
        assert "NIC net2 has no carrier" in told["node-2"], told
        assert "failed" in told["node-1"], told
    finally:
        nics.inside("ip", "link", "set", CABLE, "up")
    wait_for("status is well again", lambda: nics("local", "status", check=False).returncode, lambda code: code == 0)


@pytest.mark.parametrize("mtu", [NIC_MTU - HEADERS, ETHERNET_MTU - HEADERS])
def test_two_nics_carry_more_than_an_overlay_network_over_one(
    nics: Cluster, workspace: Workspace, mtu: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seen to fail with net2 left out of the pods' networks (a ratio of 1.005)."""
    program = Path(*network.__path__).joinpath("traffic.py").read_text()
    with overlay(nics, mtu) as attachment:
        workspace.apply(attachment)
        example.start(workspace, networks=f"net1,net2,{BRIDGE}@overlay1", program={"traffic.py": program}, mtu=mtu)
        _, sender = example.ended(workspace)
        sent = tunnelled(nics, text(sender, "spec", "nodeName"))
        said = example.lines(workspace, sender, "TRAFFIC")
    assert said, workspace.logs(text(sender, "metadata", "name"))
    mbit, trips, sizes = (_numbers(said[0], name) for name in ("mbit", "rtt_us", "mtu"))
    of_the_overlay = mbit["nics"] / mbit["overlay1"]
    with capsys.disabled():
        print(
            f"\nMTU {mtu}: {MBIT} Mbit/s a NIC; two NICs {mbit['nics']} Mbit/s, VXLAN over one {mbit['overlay1']}: "
            f"ratio {of_the_overlay:.2f}; round trip {trips['net1']} us, VXLAN {trips['overlay1']}: "
            f"ratio {trips['net1'] / trips['overlay1']:.2f}"
        )
    assert {sizes[name] for name in ("net1", "net2", "overlay1")} == {mtu}, sizes
    assert sent >= mbit["overlay1"] * 1e6 / 8, f"the tunnel has sent {sent} bytes: the overlay's packets went elsewhere"
    assert of_the_overlay >= RATIO, said


def test_nics_are_remembered_and_another_number_is_another_shape(nics: Cluster) -> None:
    assert "is up already" in nics("local", "up").stderr
    refused = nics("local", "up", "--nics", "1", check=False)
    assert refused.returncode != 0
    assert "2 nodes with 2 NICs of 300 Mbit/s" in refused.stderr


def _rounds(workspace: Workspace, pod: Object) -> int:
    return sum(each["event"] == "round" for each in example.lines(workspace, pod, "NICS"))


def _at_work(rounds: list[int]) -> bool:
    return len(rounds) == 2 and min(rounds) >= 3


def _told(pod: Object) -> str:
    """Return why a pod's container ended, as its status says."""
    [status] = mappings(pod, "status", "containerStatuses")
    return str(dig(status, "state", "terminated", "message"))


def _numbers(said: Mapping[str, object], name: str) -> Mapping[str, float]:
    found = dig(said, name)
    assert isinstance(found, dict), said
    return {str(key): float(value) for key, value in found.items()}
