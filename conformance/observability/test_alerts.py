"""Alerts fire on faults that are really there.

Two judges: the platform's Prometheus for alerts that fire at once, and one of the test's own with the same rules and
series but a `for` of seconds. What cannot be caused from a namespace is left to unit tests (tests/manifests/alerts).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from conformance.observability import judge
from conformance.observability.faults import Faults, Labels
from conformance.observability.prometheus import Prometheus
from conformance.observability.scene import MODEL, Scene
from conformance.support.removal import Removal
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace, open_workspace
from modelyard.cluster import Session
from modelyard.objects import Object, text

SECONDS = 400.0
# Without a `for`: the platform's own Prometheus says them within the test's time.
AT_ONCE = {"GPUMemoryFailing", "GPUXidError", "PodRestarting", "TrainingJobFailed", "WorkloadsEvictedRepeatedly"}
UNIT_TESTED = {
    "AlertRulesFail": "no shipped rule fails",
    "GatewayErrors": "of a gateway by Traefik",
    "NICDown": "would take a NIC of the node down",
    "NICDrops": "would damage the node's traffic",
    "NICErrors": "would damage the node's traffic",
    "NodeDiskFilling": "would fill the node's disk",
    "NodeMemoryLow": "would fill the node's memory",
    "RayJobFailed": "would run a Ray cluster for it",
}


@pytest.fixture
def faults(session: Session, workspace: Workspace, removal: Removal) -> Iterator[Faults]:
    """Faults in the test's namespace, and in one that is marked as the platform's."""
    platform = open_workspace(session, area="observability", labels={"modelyard.dev/platform": "true"})
    faults = Faults(workspace, platform)
    yield faults
    faults.remove(removal)
    removal.remove(platform.ref)


def test_every_alert_that_can_be_caused_fires(scene: Scene, faults: Faults, prometheus: Prometheus) -> None:
    """Each fault's alert fires, with the labels that name the fault; those of GPUs and of a lost node: simulated.

    What they say is in words, with all names filled in. To be seen to fail (not tried yet) with a rule's expression
    that never holds, with kube-state-metrics scaled to 0, and with a label misspelt in a template.
    """
    short = judge.start(scene.workspace)
    expected = _cause(scene, faults, prometheus)
    assert {each["alertname"] for each in expected} == judge.alert_names() - UNIT_TESTED.keys()
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
    print(f"by unit test alone: {', '.join(f'{name} ({why})' for name, why in sorted(UNIT_TESTED.items()))}")


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
        *faults.node_lost(),
        {"alertname": "ModelErrors", "namespace": scene.workspace.name, "inferenceservice": MODEL},
        *({"alertname": name, "simulated": "true"} for name in judge.alert_names() if name.startswith("GPU")),
    ]
    counted = f'kueue_evicted_workloads_total{{cluster_queue="{stopped.name}"}}'
    wait_for("the first eviction is counted", lambda: prometheus.query(counted))
    faults.evict(stopped, times=5)
    return alerts


def _among(wanted: Labels, fired: list[Mapping[str, str]]) -> bool:
    return any(wanted.items() <= labels.items() for labels in fired)


def _unclear(alerts: list[Object]) -> list[str]:
    """Return what alerts say with a name left empty, or with an error of the template in it."""
    words = [text(alert, "annotations", field) for alert in alerts for field in ("summary", "description")]
    return [each for each in words if any(sign in each for sign in ("<", "  ", " /", "/ "))]
