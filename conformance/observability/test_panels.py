"""Dashboards show something while a job runs, and alert rules ask for metrics that there are."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from conformance.observability.prometheus import Prometheus
from conformance.observability.scene import Scene, expressions
from conformance.support.kinds import JOB
from conformance.support.waiting import wait_for
from modelyard.objects import number, text
from modelyard.paths import data_root

pytestmark = pytest.mark.proves("kube-state-metrics", "node-exporter", "prometheus")

FOLDER = data_root() / "manifests/observability/prometheus/dashboards"
SIMULATED = "DCGM_"  # see scene.py
SECONDS = 400.0
# What rules ask for and this cluster need not have, with the reason. Where it has it, it is like any other.
ELSEWHERE = {
    "traefik_service_requests_total": "of a gateway by Traefik",
    "keda_scaler_detail_errors_total": "there when a scaler has failed; test_alerts.py makes one",
    "kube_job_failed": "there when a Job has failed; test_alerts.py makes one",
    "kube_pod_status_unschedulable": "there while a pod finds no node; test_alerts.py makes one",
    "kube_pod_container_status_waiting_reason": "there while a container waits; test_alerts.py makes one",
}


def test_every_panel_has_series_while_a_job_runs(scene: Scene, prometheus: Prometheus) -> None:
    """Every query of every dashboard, asked from the platform's Prometheus. Those for GPUs: simulated.

    Seen to fail with a series misspelt in a dashboard (`kueue_pending_workload` in queue.json), which it names.
    """
    empty = {
        f"{path.stem}: {title}": expression
        for path in sorted(FOLDER.glob("*.json"))
        for title, expression in expressions(path.read_text()).items()
    }
    asked = len(empty)

    def look() -> dict[str, str]:
        scene.stir()
        for title in [title for title, expression in empty.items() if prometheus.query(expression)]:
            del empty[title]
        return empty

    wait_for("every panel has series", look, lambda left: not left, seconds=SECONDS)
    assert number(scene.workspace.get(JOB, "running"), "status", "active") == 1, "the job did not run meanwhile"
    simulated = prometheus.query("DCGM_FI_DEV_GPU_UTIL")
    assert [sample for sample in simulated if sample.labels.get("simulated") == "true"], "real GPUs, or none"
    print(f"{asked} queries of panels have series; those of dashboard gpus are simulated")


def test_rules_ask_for_metrics_that_there_are(scene: Scene, prometheus: Prometheus) -> None:
    """Every metric that a rule names exists, by Prometheus' own parser and its own list.

    Seen to fail with a metric's name misspelt in a rule (`kueue_cluster_queue_state`), which it names.
    """
    queries = [text(rule, "query") for rule in prometheus.rules()]
    named = {name for query in queries for name in prometheus.metrics_of(query)}
    assert len(named) > len(queries) / 2, "the rules were not read"

    def missing() -> list[str]:
        scene.stir()
        return sorted(named - prometheus.metrics() - ELSEWHERE.keys())

    wait_for("every metric of every rule is there", missing, lambda left: not left, seconds=SECONDS)
    print(f"{len(named)} metrics of {len(queries)} rules are there, but for {_absent(named - prometheus.metrics())}")


def _absent(names: Iterable[str]) -> str:
    return ", ".join(f"{name} ({ELSEWHERE[name]})" for name in sorted(names)) or "none"
