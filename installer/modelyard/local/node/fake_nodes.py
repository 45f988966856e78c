"""Nodes that kwok simulates: pods are scheduled onto them, and nothing runs: pure.

Nothing can mistake them for hardware: they carry a label, a taint, an annotation and a GPU product name that
says what they are. One more label says who plays them: the supervisor's kwok takes no others, and leaves those of
the component `kwok` (manifests/cluster/kwok) to its pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from modelyard.local.control_plane.processes import API_ADDRESS
from modelyard.local.control_plane.rbac import bind_user
from modelyard.local.host.addresses import FAKE_POD_CIDR, GATEWAY
from modelyard.local.machine import architecture
from modelyard.local.state.layout import Layout
from modelyard.local.state.plan import Component, Gate

SIMULATED_LABEL = "modelyard.dev/simulated"
PLAYER_LABEL = "modelyard.dev/simulated-by"
PLAYER = "supervisor"
_KWOK = "kwok.x-k8s.io/node"
_CPUS = 32
_MEMORY = "256Gi"


def kwok(binaries: Mapping[str, Path], layout: Layout) -> Component:
    """Return kwok, which plays the kubelet of the supervisor's simulated nodes, and of no other."""
    argv = [
        str(binaries["kwok"]),
        f"--kubeconfig={layout.config / 'kwok.kubeconfig'}",
        f"--manage-nodes-with-annotation-selector={_KWOK}=fake",
        f"--manage-nodes-with-label-selector={PLAYER_LABEL}={PLAYER}",
        f"--cidr={FAKE_POD_CIDR}",
        f"--node-ip={GATEWAY}",
        "--node-lease-duration-seconds=40",
    ]
    return Component("kwok", argv, env={"HOME": str(layout.config)}, gates=[Gate("tcp", API_ADDRESS)])


def name(index: int) -> str:
    """Return the name of fake node number `index` (from 1)."""
    return f"fake-{index}"


def ignored_by_supervisor(node: Mapping[str, Any]) -> bool:
    """Tell whether a node is simulated by another kwok than the supervisor's."""
    metadata = node["metadata"]
    played = _KWOK in (metadata.get("annotations") or {})
    return played and (metadata.get("labels") or {}).get(PLAYER_LABEL) != PLAYER


def objects(count: int, gpus: int) -> list[tuple[str, dict[str, object]]]:
    """Return kwok's rights and `count` nodes with `gpus` GPUs each, each object with its path."""
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    rights = [
        (f"{rbac}/clusterroles/system:kwok", _role()),
        (f"{rbac}/clusterrolebindings/system:kwok", bind_user("system:kwok")),
    ]
    return rights + [(f"/api/v1/nodes/{name(index)}", _node(name(index), gpus)) for index in range(1, count + 1)]


def status(node: str, gpus: int) -> dict[str, object]:
    """Return the status to be applied to `node`: what it pretends to have."""
    resources: dict[str, object] = {"cpu": str(_CPUS), "memory": _MEMORY, "pods": "110"}
    if gpus:
        resources["nvidia.com/gpu"] = str(gpus)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node},
        "status": {"allocatable": resources, "capacity": resources},
    }


def _node(node: str, gpus: int) -> dict[str, object]:
    labels = {
        "type": "kwok",
        SIMULATED_LABEL: "true",
        PLAYER_LABEL: PLAYER,
        "kubernetes.io/hostname": node,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": architecture(),
    }
    if gpus:
        labels["nvidia.com/gpu.product"] = "simulated"
        labels["nvidia.com/gpu.count"] = str(gpus)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": node,
            "labels": labels,
            "annotations": {_KWOK: "fake", "node.alpha.kubernetes.io/ttl": "0"},
        },
        "spec": {"taints": [{"key": _KWOK, "value": "fake", "effect": "NoSchedule"}]},
    }


def _role() -> dict[str, object]:
    # As kwok's own kustomize/rbac/role.yaml, without its own kinds, which are not used here.
    def rule(group: str, resources: list[str], verbs: str) -> dict[str, object]:
        return {"apiGroups": [group], "resources": resources, "verbs": verbs.split()}

    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "system:kwok"},
        "rules": [
            rule("", ["events"], "create delete get list patch update watch"),
            rule("events.k8s.io", ["events"], "create patch update"),
            rule("", ["nodes"], "get list watch"),
            rule("", ["nodes/status"], "patch update"),
            rule("", ["pods"], "delete get list patch update watch"),
            rule("", ["pods/status"], "patch update"),
            rule("coordination.k8s.io", ["leases"], "create get list patch update watch"),
        ],
    }
