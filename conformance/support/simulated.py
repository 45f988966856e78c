"""Simulated nodes: kwok plays their kubelet, pods are bound to them and reported as running, and nothing runs.

A result that rests on them says `simulated`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.support.kinds import NODE
from conformance.support.pods import occupying, states
from conformance.support.removal import Removal
from conformance.support.waiting import wait_for
from conformance.support.workspace import LABEL, Workspace
from modelyard.objects import Object, ObjectRef, labels_of, mappings, text

GPU = "nvidia.com/gpu"
SIMULATED = "modelyard.dev/simulated"
TAINT = {"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}
TOLERATION = {"key": TAINT["key"], "operator": "Exists", "effect": TAINT["effect"]}
# A Job's simulated pods end at once unless they say how long they take (manifests/cluster/kwok/pod-complete.yaml).
LASTING = {"pod-complete.stage.kwok.x-k8s.io/delay": "24h"}


class SimulatedNodes:
    """Nodes of one test's own.

    Args:
        workspace: whose jobs run on them; its name is a label of theirs.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._made: list[ObjectRef] = []

    def add(self, name: str, labels: Mapping[str, str], *, cpu: str) -> None:
        """Make a node.

        Args:
            name: the end of its name.
            labels: where it is.
            cpu: what it pretends to have.
        """
        ref = node_ref(f"{self._workspace.name}-{name}")
        self._made.append(ref)
        self._workspace.session.create(_node(ref.name, {LABEL: self._workspace.name, **labels}, cpu))

    def wait_until_ready(self) -> None:
        """Wait until kwok has reported all of them as ready, and their taints say so too."""
        wait_for(
            "the simulated nodes are ready",
            lambda: [ref.name for ref in self._made if not _takes_pods(self._workspace.session.get(ref) or {})],
            lambda unready: not unready,
        )

    def remove(self, removal: Removal) -> None:
        """Remove the workspace's pods, which need their nodes to end on, then the nodes."""
        removal.remove(self._workspace.ref)
        wait_for(
            "no pod is left on the simulated nodes",
            lambda: occupying(self._workspace.pods()),
            lambda pods: not pods,
            show=states,
        )
        for ref in self._made:
            removal.remove(ref)


def node_ref(name: str) -> ObjectRef:
    """Return the reference of a node."""
    return ObjectRef(NODE.group, NODE.kind, "", name)


def nodes_of(workspace: Workspace, pods: Sequence[Object]) -> list[Object]:
    """Return the nodes that pods are on, each once.

    Raises:
        AssertionError: one of them is not simulated.
    """
    names = sorted({text(pod, "spec", "nodeName") for pod in pods})
    nodes = [workspace.session.get(node_ref(name)) or {} for name in names]
    assert all(labels_of(node).get(SIMULATED) == "true" for node in nodes), f"not all simulated: {', '.join(names)}"
    return nodes


def _takes_pods(node: Object) -> bool:
    ready = any(
        text(each, "type") == "Ready" and text(each, "status") == "True"
        for each in mappings(node, "status", "conditions")
    )
    return ready and [text(taint, "key") for taint in mappings(node, "spec", "taints")] == [TAINT["key"]]


def _node(name: str, labels: Mapping[str, str], cpu: str) -> Object:
    resources = {"cpu": cpu, "memory": "64Gi", "pods": "110"}
    marks = {SIMULATED: "true", "type": "kwok", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    metadata = {"name": name, "labels": {**marks, **labels}, "annotations": {TAINT["key"]: TAINT["value"]}}
    return {
        "apiVersion": "v1",
        "kind": NODE.kind,
        "metadata": metadata,
        "spec": {"taints": [TAINT]},
        "status": {"allocatable": resources, "capacity": resources},
    }
