"""As many servers as the requests at the Gateway need: KEDA scales a model by the rate that Prometheus sees there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.gateway import asking
from conformance.gateway.routes import NAMESPACE_LABEL, apply_route, backend, rule
from conformance.support import adders, serving
from conformance.support.conditions import is_true, summary
from conformance.support.removal import Removal
from conformance.support.volumes import Volumes
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace, open_workspace
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, mapping, number, text

pytestmark = [pytest.mark.needs("traefik", "kserve", "keda", "prometheus"), pytest.mark.proves("keda")]

SCALED_OBJECT = GroupKind("keda.sh", "ScaledObject")
DEPLOYMENT = GroupKind("apps", "Deployment")
PROMETHEUS = "http://prometheus.modelyard-monitoring.svc:9090"
PREDICTOR = "v1-predictor"
PER_SERVER = 10  # requests a second
LOW, HIGH, MOST = 8, 30, 3
PATIENCE_SECONDS = 420  # scrapes, a rate over a minute, the HPA's period and a new server


@pytest.fixture
def workspace(session: Session, removal: Removal) -> Iterator[Workspace]:
    """A namespace whose routes the Gateway takes."""
    workspace = open_workspace(session, area="gateway", labels=NAMESPACE_LABEL)
    yield workspace
    removal.remove(workspace.ref)


def test_a_model_is_scaled_by_its_requests_and_none_is_lost(workspace: Workspace, volumes: Volumes) -> None:
    """KServe makes the ScaledObject, as its own autoscaler class `keda` does.

    Seen to fail with Deployment keda-operator scaled to 0 (the ScaledObject never becomes Ready), and with the
    runtime's preStop removed (requests reach servers that have gone).
    """
    adders.write(workspace, volumes)
    workspace.apply(_scaled(workspace))
    serving.wait_until_ready(workspace, "v1")
    apply_route(workspace, adders.MODEL, rule("all", [backend("v1")]))
    wait_for(
        "KEDA has taken the ScaledObject",
        lambda: workspace.get(SCALED_OBJECT, PREDICTOR),
        lambda found: is_true(found, "Ready"),
        show=summary,
    )
    asking.start(workspace, adders.MODEL, rate=LOW)
    assert _servers(workspace) == 1

    asking.change_rate(workspace, HIGH)
    _wait_for_servers(workspace, MOST)
    asking.change_rate(workspace, LOW)
    _wait_for_servers(workspace, 1)

    report = asking.report(workspace)
    assert report.answered > HIGH
    assert report.failed == 0, report.failures


def _scaled(workspace: Workspace) -> Object:
    """Return the model's InferenceService, with a server for every five requests a second."""
    route = f"httproute-{workspace.name}-{adders.MODEL}-.*"
    metric = {
        "backend": "prometheus",
        "serverAddress": PROMETHEUS,
        "query": f'sum(rate(traefik_router_requests_total{{router=~"{route}"}}[1m])) or vector(0)',
    }
    target = {"type": "Value", "value": str(PER_SERVER)}
    scaling = {
        "metrics": [{"type": "External", "external": {"metric": metric, "target": target}}],
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}},
    }
    service = adders.service("v1")
    annotations = {"serving.kserve.io/autoscalerClass": "keda"}
    predictor = {**mapping(service, "spec", "predictor"), "maxReplicas": MOST, "autoScaling": scaling}
    return {
        **service,
        "metadata": {**mapping(service, "metadata"), "annotations": annotations},
        "spec": {"predictor": predictor},
    }


def _servers(workspace: Workspace) -> int:
    """Return how many servers answer."""
    return int(number(workspace.get(DEPLOYMENT, PREDICTOR), "status", "readyReplicas"))


def _wait_for_servers(workspace: Workspace, wanted: int) -> None:
    wait_for(
        f"{wanted} servers",
        lambda: (_servers(workspace), workspace.get(SCALED_OBJECT, PREDICTOR)),
        lambda seen: seen[0] == wanted,
        seconds=PATIENCE_SECONDS,
        show=lambda seen: f"{seen[0]} servers; {text(seen[1], 'metadata', 'name')}: {summary(seen[1])}",
    )
