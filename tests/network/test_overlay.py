"""Two NICs without encapsulation against an overlay network over one of them, with packets of the same size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from network_helpers import MBIT, Cluster
from overlay import BRIDGE, HEADERS, overlay, tunnelled

from conformance import network
from conformance.support import nics as example
from conformance.support.workspace import Workspace, open_workspace
from modelyard.cluster import connect
from modelyard.local.runtime.layout import layout
from modelyard.local.runtime.nics import NIC_MTU
from modelyard.objects import dig, text

pytestmark = [pytest.mark.long, pytest.mark.cluster]
RATIO = 1.9  # of the bandwidth: two NICs, and no encapsulation
ETHERNET_MTU = 1500


@pytest.fixture
def workspace(nics: Cluster) -> Iterator[Workspace]:
    session = connect(layout(nics.name).kubeconfig)
    workspace = open_workspace(session, area="network")
    yield workspace
    session.delete(workspace.ref)


@pytest.mark.parametrize("mtu", [NIC_MTU - HEADERS, ETHERNET_MTU - HEADERS])
def test_two_nics_carry_more_than_an_overlay_network_over_one(
    nics: Cluster, workspace: Workspace, mtu: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not seen to fail yet."""
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


def _numbers(said: Mapping[str, object], name: str) -> Mapping[str, float]:
    found = dig(said, name)
    assert isinstance(found, dict), said
    return {str(key): float(value) for key, value in found.items()}
