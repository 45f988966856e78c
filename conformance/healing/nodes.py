"""Nodes: what they say of their health, and one that is simulated."""

from __future__ import annotations

from datetime import UTC, datetime

from conformance.support.conditions import condition
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, ObjectRef, mappings, text

NODE = GroupKind("", "Node")
SIMULATED = "modelyard.dev/simulated"
UNREACHABLE = "node.kubernetes.io/unreachable"


def real_node(session: Session) -> str:
    """Return the name of a node on which pods really run: neither simulated by us nor by kwok."""
    listing = session.list(NODE, label_selector=f"type!=kwok,!{SIMULATED}")
    assert listing is not None and listing.items, "no node that runs pods"
    return min(text(node, "metadata", "name") for node in listing.items)


def get_node(session: Session, name: str) -> Object:
    """Return a node; an empty object where it is not there."""
    return session.get(ObjectRef("", "Node", "", name)) or {}


def wait_for_condition(session: Session, node: str, kind: str, status: str) -> Object:
    """Wait until a node's condition has a status; return the condition."""
    return wait_for(
        f"condition {kind} of node {node} is {status}",
        lambda: condition(get_node(session, node), kind),
        lambda found: text(found, "status") == status,
        show=lambda found: found or "no such condition",
    )


def simulate_node(workspace: Workspace) -> str:
    """Make a node without a kubelet that says once that it is ready, and never again; return its name.

    What the control plane sees of it is what it sees of a machine that has lost its power. Nothing but pods that name
    its taint comes onto it; without a label for its operating system no DaemonSet that asks for one does.
    """
    name = workspace.name
    meta = {"name": name, "labels": {SIMULATED: "true", "kubernetes.io/hostname": name}}
    taint = {"key": SIMULATED, "value": name, "effect": "NoSchedule"}
    workspace.session.create({"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": {"taints": [taint]}})
    room = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    ready = {"type": "Ready", "status": "True", "reason": "Simulated", "message": "said once"}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    conditions = [ready | {"lastHeartbeatTime": now, "lastTransitionTime": now}]
    status = {"capacity": room, "allocatable": room, "conditions": conditions}
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}
    answer = workspace.session.transport.send(
        "PATCH", f"/api/v1/nodes/{name}/status", body=body, content_type="application/merge-patch+json"
    )
    assert answer.code == 200, answer.body
    return name


def unreachable_since(session: Session, node: str) -> datetime | None:
    """Return when the control plane gave a node up; None where it has not."""
    taints = mappings(get_node(session, node), "spec", "taints")
    said = next((text(each, "timeAdded") for each in taints if _evicts(each)), "")
    return moment(said) if said else None


def moment(said: str) -> datetime:
    """Return the API's time as one that can be reckoned with."""
    return datetime.fromisoformat(said)


def _evicts(taint: Object) -> bool:
    return text(taint, "key") == UNREACHABLE and text(taint, "effect") == "NoExecute"
