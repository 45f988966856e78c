"""Prometheus scrapes each component that has metrics; one that is left out says why."""

from __future__ import annotations

from typing import Any

import yaml

from modelyard.catalog import load
from modelyard.objects import Object, mappings, text
from modelyard.paths import data_root

CONFIGURATION = data_root() / "manifests/observability/prometheus/prometheus.yaml"
MONITORS = data_root() / "overlays/openshift"
# Jobs that are of no component: the kubelets', and those of what teams run.
GENERAL = {"kubelet", "cadvisor", "models", "ray", "dcgm", "annotated"}
# On OpenShift somebody else scrapes them, or they are not there (leavesOut in its target.yaml).
NOT_OURS_ON_OPENSHIFT = {
    "keda": "in a namespace of OpenShift, by OLM",
    "node-feature-discovery": "in a namespace of OpenShift, by OLM",
    "prometheus": "openshift-monitoring's own",
}


def test_each_component_is_a_job_or_has_no_metrics() -> None:
    """One that has none says so in its component.yaml: `noMetrics`."""
    jobs = {text(job, "job_name") for job in _jobs()}
    assert jobs - GENERAL == _with_metrics()


def test_on_openshift_each_has_a_monitor_or_is_not_ours() -> None:
    profile = set(load(data_root()).targets["openshift"].profiles["full"])
    monitored = {path.parent.name for path in MONITORS.glob("*/metrics.yaml")}
    assert monitored == profile & _with_metrics() - NOT_OURS_ON_OPENSHIFT.keys()


def test_a_monitor_names_its_series_as_the_job_does() -> None:
    for path in sorted(MONITORS.glob("*/metrics.yaml")):
        [monitor] = [each for each in _documents(path.read_text()) if text(each, "kind") == "ServiceMonitor"]
        [endpoint] = mappings(monitor, "spec", "endpoints")
        assert {"targetLabel": "job", "replacement": path.parent.name} in mappings(endpoint, "relabelings"), path


def test_no_token_goes_to_a_target_without_tls() -> None:
    """Prometheus' token is all that the exporters' guards ask for: on a plain connection anybody could take it.

    A job without a scheme of its own may get https by relabelling where there is a guard (kserve).
    """
    plain = [job for job in _jobs() if text(job, "scheme") != "https" and job.get("authorization")]
    assert [text(job, "job_name") for job in plain] == ["kserve"]


def _with_metrics() -> set[str]:
    return {name for name, each in load(data_root()).components.items() if not each.noMetrics}


def _jobs() -> list[Object]:
    [configuration] = _documents(CONFIGURATION.read_text())
    return mappings(configuration, "scrape_configs")


def _documents(content: str) -> list[Any]:
    return [document for document in yaml.safe_load_all(content) if document]
