"""Routes of the Gateway API to versions of a model, which tell in a response header which one answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.support.conditions import is_true
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, ObjectRef, mappings, text

NAMESPACE_LABEL = {"modelyard.dev/gateway": "true"}
ROUTE = GroupKind("gateway.networking.k8s.io", "HTTPRoute")
GATEWAY = ObjectRef("gateway.networking.k8s.io", "Gateway", "gateway", "modelyard")
_INSIDE = "traefik.traefik.svc"  # where the Gateway has no address of its own


def entrance(session: Session) -> str:
    """Return the address at which the Gateway takes requests from inside the cluster."""
    gateway = session.get(GATEWAY)
    assert gateway is not None, f"the cluster has no {GATEWAY}"
    addresses = mappings(gateway, "status", "addresses")
    return text(addresses[0], "value") if addresses else _INSIDE


def host_of(workspace: Workspace, model: str) -> str:
    """Return the host name of a model's route: no other test has it."""
    return f"{model}.{workspace.name}.example"


def backend(version: str, weight: int = 1) -> dict[str, object]:
    """Return a reference to the predictor of a version, with its weight."""
    return {"name": f"{version}-predictor", "port": 80, "weight": weight}


def rule(name: str, backends: Iterable[object], *, headers: Mapping[str, str] | None = None) -> dict[str, object]:
    """Return a rule of a route.

    Args:
        name: what its answers carry in x-route.
        backends: where its requests go.
        headers: which headers they must have; None: any request.
    """
    match: dict[str, object] = {"path": {"type": "PathPrefix", "value": "/"}}
    if headers:
        match["headers"] = [{"name": name, "value": value} for name, value in headers.items()]
    marking = {"set": [{"name": "x-route", "value": name}]}
    return {
        "matches": [match],
        "filters": [{"type": "ResponseHeaderModifier", "responseHeaderModifier": marking}],
        "backendRefs": list(backends),
    }


def apply_route(workspace: Workspace, model: str, *rules: Object) -> None:
    """Apply a model's route, and wait until the Gateway has accepted it.

    Its backends' Services are found or not by then; requests may go by its former rules for some seconds more.
    """
    parent = {"name": GATEWAY.name, "namespace": GATEWAY.namespace}
    spec = {"parentRefs": [parent], "hostnames": [host_of(workspace, model)], "rules": list(rules)}
    workspace.apply(
        {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": model}, "spec": spec}
    )
    wait_for(
        f"HTTPRoute {model} is accepted",
        lambda: workspace.get(ROUTE, model),
        lambda found: any(_accepted(parent) for parent in mappings(found, "status", "parents")),
        show=lambda found: found.get("status"),
    )


def _accepted(parent: Object) -> bool:
    as_object = {"status": {"conditions": mappings(parent, "conditions")}}
    return is_true(as_object, "Accepted") and is_true(as_object, "ResolvedRefs")
