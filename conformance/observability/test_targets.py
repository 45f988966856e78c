"""What Prometheus scrapes: every part of the platform that has metrics, and nobody else may ask the exporters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

import pytest

from conformance.observability.installed import NAMES, installed
from conformance.observability.prometheus import Prometheus
from conformance.support.kinds import NAMESPACE
from conformance.support.pods import container, pod_spec
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.cluster import Session
from modelyard.objects import Object, ObjectRef, text

pytestmark = pytest.mark.proves("kube-state-metrics", "node-exporter", "prometheus")

ALWAYS = {"cadvisor", "kubelet"}
ENCRYPTED = {"appwrapper", "jobset", "kube-state-metrics", "kueue", "lws", "metrics-server", "node-exporter", "trainer"}
# Connects as anybody in the cluster can: encrypted, but without a certificate. Trust is not what is tested here.
STRANGER = """
import socket, ssl, sys
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
host = "kube-state-metrics.kube-state-metrics.svc"
try:
    with context.wrap_socket(socket.create_connection((host, 8080), 10), server_hostname=host) as stream:
        stream.sendall(b"GET /metrics HTTP/1.0\\r\\n\\r\\n")
        print("ANSWER", stream.recv(100))
except ssl.SSLError as error:
    print("REFUSED", error.reason)
"""


def test_every_component_answers(session: Session, prometheus: Prometheus) -> None:
    """Each installed component with metrics has a target, and all of its targets are up: asked since the test began.

    A target whose pod has gone stays for some seconds, with the health that it had.

    Seen to fail with the port of training-operator without its name (no target), with ClusterRoleBinding
    modelyard-prometheus removed and Prometheus restarted (it finds nothing but itself), and with the client's
    certificate left out of node-exporter's job ("certificate required"), and with kube-state-metrics at zero replicas.
    """
    began = prometheus.query("vector(time())")[0].value  # by its own clock
    wanted = installed(session) | ALWAYS
    targets = wait_for(
        f"{', '.join(sorted(wanted))} are up",
        lambda: [target for target in prometheus.targets() if text(target, "labels", "job") in wanted],
        lambda found: {text(each, "labels", "job") for each in found} == wanted and not _down(found, began),
        show=lambda found: _down(found, began) or Counter(text(each, "labels", "job") for each in found),
    )
    schemes = {text(each, "labels", "job"): text(each, "scrapeUrl").partition(":")[0] for each in targets}
    assert {schemes[job] for job in (ENCRYPTED | ALWAYS) & wanted} == {"https"}, schemes
    print(f"{len(targets)} targets are up: {', '.join(sorted(wanted))}; not installed: {_others(NAMES - wanted)}")


def test_all_rules_are_taken_and_evaluated(prometheus: Prometheus) -> None:
    """Prometheus has every rule that the component ships, and none fails on the series that are there.

    Seen to fail with a rule that joins series which are not one to one (`up * on () up > 5`).
    """
    rules = wait_for(
        "all rules were evaluated",
        prometheus.rules,
        lambda found: bool(found) and all(text(rule, "health") in ("ok", "err") for rule in found),
        show=lambda found: [text(rule, "name") for rule in found if text(rule, "health") == "unknown"],
    )
    assert [f"{text(rule, 'name')}: {text(rule, 'lastError')}" for rule in rules if text(rule, "health") != "ok"] == []


@pytest.mark.usefixtures("prometheus")
def test_the_exporters_refuse_a_stranger(session: Session, workspace: Workspace) -> None:
    """What knows the names of all pods answers only to a client with a certificate of the platform's authority.

    Seen to fail with client_auth_type VerifyClientCertIfGiven in kube-state-metrics' web.yaml (it answers).
    """
    if session.get(ObjectRef("", NAMESPACE.kind, "", "kube-state-metrics")) is None:
        pytest.skip("component kube-state-metrics is not installed")
    spec = pod_spec(container(["python3", "-c", STRANGER]))
    workspace.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stranger"}, "spec": spec})
    said = wait_for(
        "a stranger has asked", lambda: workspace.logs("stranger"), lambda log: "REFUSED" in log or "ANSWER" in log
    )
    assert "REFUSED" in said and "ANSWER" not in said, said


def _others(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _down(targets: list[Object], since: float) -> list[str]:
    """Return the targets that are not up, or were not asked after a time (seconds since 1970)."""
    return [
        f"{text(each, 'labels', 'job')} {text(each, 'scrapeUrl')}: {text(each, 'lastError') or text(each, 'health')}, "
        f"asked at {text(each, 'lastScrape')}"
        for each in targets
        if text(each, "health") != "up" or datetime.fromisoformat(text(each, "lastScrape")).timestamp() < since
    ]
