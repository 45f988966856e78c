"""A Prometheus of the test's own: the platform's series and the shipped rules, but with a `for` of seconds.

It reads the platform's Prometheus (remote read) and keeps nothing; so alerts that must last for half an hour are seen
to fire within a minute, on the very series that the platform has.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml

from conformance.observability.prometheus import URL, Prometheus
from conformance.support.conditions import is_true
from conformance.support.images import image
from conformance.support.pods import pod_spec, states
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.objects import Object, mappings, text
from modelyard.paths import data_root

RULES = data_root() / "manifests/observability/prometheus/rules"
NAME = "judge"
FOR = "10s"
EVERY = "5s"
# Many pods on both sides: it never can be evaluated. The judge alone has it, and scrapes itself to know.
BROKEN = {"groups": [{"name": "broken", "rules": [{"record": "broken", "expr": "up * on () up"}]}]}


def alert_names() -> set[str]:
    """Return the names of all alerts that the component ships."""
    return {text(rule, "alert") for path in _files() for rule in _rules(path)}


def start(workspace: Workspace) -> Prometheus:
    """Start it, and wait until it answers."""
    workspace.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": _configuration()})
    metadata = {"name": NAME, "labels": {"app": NAME}}
    workspace.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _pod()})
    wait_for("the test's Prometheus is ready", lambda: workspace.pods(f"app={NAME}"), _ready, show=states)
    return Prometheus(workspace.session, f"/api/v1/namespaces/{workspace.name}/pods/{NAME}:9090/proxy")


def _ready(pods: Sequence[Object]) -> bool:
    return any(is_true(pod, "Ready") for pod in pods)


def _pod() -> dict[str, object]:
    container = {
        "name": "prometheus",
        "image": image("prometheus", "quay.io/prometheus/prometheus"),
        "imagePullPolicy": "IfNotPresent",
        "args": ["--config.file=/config/prometheus.yaml", "--storage.tsdb.path=/data"],
        "ports": [{"containerPort": 9090}],
        "readinessProbe": {"httpGet": {"path": "/-/ready", "port": 9090}, "periodSeconds": 1},
        "resources": {"requests": {"cpu": "20m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65534},
        "volumeMounts": [{"name": "config", "mountPath": "/config"}, {"name": "data", "mountPath": "/data"}],
    }
    volumes = [{"name": "config", "configMap": {"name": NAME}}, {"name": "data", "emptyDir": {}}]
    # The folder is root's, unless a group of the pod's has it.
    return {**pod_spec(container), "volumes": volumes, "securityContext": {"fsGroup": 65534}}


def _configuration() -> dict[str, str]:
    config = {
        "global": {"evaluation_interval": EVERY},
        "remote_read": [{"url": f"{URL}/api/v1/read", "read_recent": True}],
        "rule_files": ["/config/rules-*.yaml"],
        "scrape_configs": [
            {"job_name": NAME, "scrape_interval": EVERY, "static_configs": [{"targets": ["localhost:9090"]}]}
        ],
    }
    shortened = {f"rules-{path.name}": yaml.safe_dump(_shortened(path)) for path in _files()}
    return {"prometheus.yaml": yaml.safe_dump(config), "rules-broken.yaml": yaml.safe_dump(BROKEN), **shortened}


def _shortened(path: Path) -> Object:
    groups = [
        {**group, "rules": [{**rule, **({"for": FOR} if "for" in rule else {})} for rule in mappings(group, "rules")]}
        for group in mappings(yaml.safe_load(path.read_text()), "groups")
    ]
    return {"groups": groups}


def _files() -> list[Path]:
    return [path for path in sorted(RULES.glob("*.yaml")) if path.name != "kustomization.yaml"]


def _rules(path: Path) -> list[Object]:
    return [rule for group in mappings(yaml.safe_load(path.read_text()), "groups") for rule in mappings(group, "rules")]
