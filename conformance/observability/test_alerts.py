"""Alerts fire on faults that are really there.

Two judges: the platform's Prometheus for alerts that fire at once, and one of the test's own with the same rules and
series but a `for` of seconds. That they fire only when they should is seen by unit tests (tests/manifests/alerts).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from conformance.observability import gateway, judge, nics
from conformance.observability.faults import Faults, Labels
from conformance.observability.installed import installed
from conformance.observability.prometheus import Prometheus
from conformance.observability.scene import MODEL, Scene
from conformance.support.removal import Removal
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace, open_workspace
from modelyard.cluster import Session
from modelyard.objects import Object, text

pytestmark = pytest.mark.proves("prometheus")

SECONDS = 400.0
# Without a `for`: the platform's own Prometheus says them within the test's time.
AT_ONCE = {
    "GPUMemoryFailing",
    "GPUXidError",
    "PodRestarting",
    "RayJobFailed",
    "TrainingJobFailed",
    "WorkloadsEvictedRepeatedly",
}
# What has them fire is of a component that not every profile has.
OF_COMPONENTS = {"GatewayErrors": "traefik", "ScalerFails": "keda"}


@pytest.fixture
def faults(session: Session, workspace: Workspace, removal: Removal) -> Iterator[Faults]:
    """Faults in the test's namespace, and in one that is marked as the platform's."""
    labels = {"modelyard.dev/platform": "true", **gateway.NAMESPACE_LABEL}
    platform = open_workspace(session, area="observability", labels=labels)
    faults = Faults(workspace, platform)
    yield faults
    faults.remove(removal)
    removal.remove(platform.ref)


@pytest.fixture
def node(session: Session, removal: Removal) -> Iterator[Workspace]:
    """A namespace whose pods may change interfaces of their node."""
    node = open_workspace(session, area="observability", labels=nics.PRIVILEGED)
    yield node
    removal.remove(node.ref)


def test_every_alert_fires(scene: Scene, faults: Faults, node: Workspace, prometheus: Prometheus) -> None:
    """Each fault's alert fires, with the labels that name the fault.

    Simulated: GPUs, a lost node, a full one. NICs are real interfaces of a node, but made for this.

    What they say is in words, with all names filled in. Seen to fail, naming the alert, with expressions that never
    hold (TrainingJobFailed on the platform, PodCannotStart in the judge), and with a summary that begins with a mount
    point, without quotes (`/ of node`).
    """
    short = judge.start(scene.workspace)
    has = installed(scene.workspace.session)
    expected = [*nics.cause(node), *_cause(scene, faults, prometheus)]
    expected += [gateway.cause(faults.platform)] if "traefik" in has else []
    expected += [faults.scaler_fails()] if "keda" in has else []
    absent = {alert: component for alert, component in OF_COMPONENTS.items() if component not in has}
    assert {each["alertname"] for each in expected} == judge.alert_names() - absent.keys()
    seen: set[str] = set()

    def missing() -> list[str]:
        scene.stir()
        fired = {True: prometheus.firing(), False: short.firing()}
        for alert in expected:
            if _among(alert, fired[alert["alertname"] in AT_ONCE]):
                seen.add(alert["alertname"])
        return sorted({alert["alertname"] for alert in expected} - seen)

    wait_for("every alert fires", missing, lambda left: not left, seconds=SECONDS)
    assert _unclear([*prometheus.alerts(), *short.alerts()]) == []
    print(f"fired on the platform: {', '.join(sorted(AT_ONCE))}")
    print(f"fired with a `for` of {judge.FOR}: {', '.join(sorted(seen - AT_ONCE))}")
    print(f"not tried: {', '.join(f'{name} ({why} is not installed)' for name, why in absent.items()) or 'none'}")


def _cause(scene: Scene, faults: Faults, prometheus: Prometheus) -> list[Labels]:
    """Cause all faults, and return the alerts that must follow."""
    stopped = scene.queues.queue(cpu="1")
    evicted = faults.evicted(stopped)
    alerts = [
        evicted,
        faults.pod_restarting(),
        faults.job_failed(),
        faults.target_down(),
        faults.pod_cannot_start(),
        faults.certificate_expiring(),
        faults.certificate_not_ready(),
        faults.component_down(),
        faults.model_without_replica(),
        faults.queue_inactive(),
        faults.queue_stuck(scene.queues.queue(cpu="1")),
        faults.ray_job_failed(),
        faults.pod_unschedulable(),
        *faults.node_lost(),
        *faults.node_full(),
        {"alertname": "AlertRulesFail", "rule_group": "/config/rules-broken.yaml;broken"},
        {"alertname": "ModelErrors", "namespace": scene.workspace.name, "inferenceservice": MODEL},
        *({"alertname": name, "simulated": "true"} for name in judge.alert_names() if name.startswith("GPU")),
    ]
    counted = f'kueue_evicted_workloads_total{{cluster_queue="{stopped.name}"}}'
    wait_for("the first eviction is counted", lambda: prometheus.query(counted))
    faults.evict(stopped, times=5)
    return alerts


def _among(wanted: Labels, fired: list[Mapping[str, str]]) -> bool:
    """Return whether one of the alerts has these labels; that of a service only begins so."""
    return any(
        all(value.startswith(wanted[name]) if name == "service" else value == wanted[name] for name, value in named)
        for labels in fired
        if len(named := [(name, value) for name, value in labels.items() if name in wanted]) == len(wanted)
    )


def _unclear(alerts: list[Object]) -> list[str]:
    """Return what alerts say with a name left empty, or with an error of the template in it."""
    words = [text(alert, "annotations", field) for alert in alerts for field in ("summary", "description")]
    return [each for each in words if any(sign in each for sign in ("<", "  ", " /", "/ "))]
