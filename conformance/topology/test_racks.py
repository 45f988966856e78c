"""A gang that asks for it is placed in one rack, or in as few as it needs. The nodes are simulated, Kueue is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from conformance.support.history import pod_history
from conformance.support.jobs import job
from conformance.support.kinds import TOPOLOGY
from conformance.support.pods import running, sleeper, states
from conformance.support.queues import Queue, Queues
from conformance.support.removal import Removal
from conformance.support.simulated import LASTING, SimulatedNodes, nodes_of
from conformance.support.waiting import wait_for
from conformance.support.workloads import wait_until_held
from conformance.support.workspace import Workspace
from modelyard.cluster import Session
from modelyard.objects import Object, ObjectRef, labels_of, mappings, text

pytestmark = [pytest.mark.needs("kwok", "topology"), pytest.mark.proves("topology", simulated=True)]

NAME = "racks"  # of the component topology
# Hosts a rack, racks a block; a pod of the tests takes a host. Only the middle one has room for three.
BLOCKS = {"first": {"left": 2}, "second": {"middle": 3, "right": 2}}
CPU = "4"
REQUIRED, PREFERRED = "kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-preferred-topology"


@pytest.fixture
def levels(session: Session) -> tuple[str, str]:
    """The labels that name a node's block and its rack, as the installed Topology says."""
    topology = session.get(ObjectRef(TOPOLOGY.group, TOPOLOGY.kind, "", NAME)) or {}
    block, rack, *_ = [text(level, "nodeLabel") for level in mappings(topology, "spec", "levels")]
    return block, rack


@pytest.fixture
def queue(workspace: Workspace, queues: Queues, levels: tuple[str, str], removal: Removal) -> Iterator[Queue]:
    """A queue with quota for everything, whose flavor is three simulated racks."""
    block_label, rack_label = levels
    nodes = SimulatedNodes(workspace)
    try:
        for block, racks in BLOCKS.items():
            for rack, hosts in racks.items():
                for host in range(hosts):
                    nodes.add(f"{rack}-{host}", {block_label: block, rack_label: rack}, cpu=CPU)
        nodes.wait_until_ready()
        yield queues.queue(cpu="1k", flavor=queues.simulated_flavor(topology=NAME))
    finally:
        nodes.remove(removal)


def test_a_gang_that_requires_a_rack_is_placed_whole_in_the_one_that_holds_it(
    workspace: Workspace, queue: Queue, levels: tuple[str, str]
) -> None:
    """Three pods, of which each takes a host: the scheduler alone would find other places for them too.

    Simulated: the nodes and what runs on them. Seen to fail with the annotation left out of the job.
    """
    workspace.create(_gang(queue, REQUIRED, levels[1], pods=3))
    assert _places(workspace, levels[1], pods=3) == {"middle"}


def test_a_gang_that_requires_a_rack_and_fits_in_none_waits(
    workspace: Workspace, queue: Queue, levels: tuple[str, str]
) -> None:
    """Seven hosts are free and the quota is there; no rack has four.

    Simulated: the nodes. Seen to fail with the annotation left out of the job: it starts.
    """
    with pod_history(workspace) as history:
        workspace.create(_gang(queue, REQUIRED, levels[1], pods=4))
        wait_until_held(workspace, "gang")
        assert history.named("gang-") == []


def test_a_gang_that_prefers_a_rack_spills_into_the_next_of_its_block(
    workspace: Workspace, queue: Queue, levels: tuple[str, str]
) -> None:
    """Four pods need two racks; those of the second block hold them, without the first.

    Simulated: the nodes and what runs on them. Seen to fail with the annotation left out of the job.
    """
    workspace.create(_gang(queue, PREFERRED, levels[1], pods=4))
    assert _places(workspace, levels[1], pods=4) == {"middle", "right"}


def _gang(queue: Queue, annotation: str, label: str, *, pods: int) -> dict[str, object]:
    return job("gang", queue.labels, pods=pods, runs=sleeper(cpu=CPU), annotations={**LASTING, annotation: label})


def _places(workspace: Workspace, label: str, *, pods: int) -> set[str]:
    """Wait until all pods run; return where, by a label of their nodes."""
    found: Sequence[Object] = wait_for(
        "the gang runs", lambda: running(workspace.pods()), lambda seen: len(seen) == pods, show=states
    )
    nodes = nodes_of(workspace, found)
    assert len(nodes) == pods, "each pod takes a host"
    return {labels_of(node)[label] for node in nodes}
