"""One real fault for each alert that can be caused from a namespace; nothing of the platform is harmed."""

from __future__ import annotations

from conformance.support.job_kinds import ray_job
from conformance.support.jobs import job
from conformance.support.kinds import CERTIFICATE, CLUSTER_QUEUE
from conformance.support.pods import container, pod_spec, sleeper
from conformance.support.queues import API, Queue
from conformance.support.removal import Removal
from conformance.support.workloads import wait_until
from conformance.support.workspace import Workspace
from modelyard.objects import Object, ObjectRef, mapping

Labels = dict[str, str]

EXPORTER = """
import http.server
MARKS = 'node="simulated",simulated="true"'
VALUES = {
    "node_memory_MemAvailable_bytes": 1e9, "node_memory_MemTotal_bytes": 64e9,
    "node_filesystem_avail_bytes": 5e9, "node_filesystem_size_bytes": 100e9, "node_filesystem_readonly": 0,
}
class Metrics(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        marks = {name: MARKS + (',mountpoint="/"' if "filesystem" in name else "") for name in VALUES}
        body = "".join(f"{name}{{{marks[name]}}} {value}\\n" for name, value in VALUES.items()).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("", 8080), Metrics).serve_forever()
"""


class Faults:
    """Causes them, each as the labels of its alert, and takes away what is not in the namespaces.

    Args:
        workspace: where.
        platform: a namespace of the test's own that is marked as the platform's.
    """

    def __init__(self, workspace: Workspace, platform: Workspace) -> None:
        self.workspace = workspace
        self.platform = platform
        self._made: list[ObjectRef] = []

    def target_down(self) -> Labels:
        """A pod says that it has metrics, where nobody listens."""
        notes = {"prometheus.io/scrape": "true", "prometheus.io/port": "9999"}
        self._pod("deaf", sleeper(), annotations=notes)
        return {"alertname": "TargetDown", "namespace": self.workspace.name, "pod": "deaf"}

    def job_failed(self) -> Labels:
        """A Job fails."""
        self.workspace.create(job("failing", {}, runs=container(["bash", "-c", "exit 3"])))
        return {"alertname": "TrainingJobFailed", "namespace": self.workspace.name, "job_name": "failing"}

    def pod_restarting(self) -> Labels:
        """A container ends at once, and is started again and again."""
        self._pod("crashing", container(["bash", "-c", "sleep 1; exit 3"]), restart="Always")
        return {"alertname": "PodRestarting", "namespace": self.workspace.name, "pod": "crashing"}

    def pod_cannot_start(self) -> Labels:
        """A pod needs a ConfigMap that is not there."""
        source = {"configMapRef": {"name": "not-there"}}
        self._pod("unstartable", container(["sleep", "infinity"], envFrom=[source]))
        return {"alertname": "PodCannotStart", "namespace": self.workspace.name, "pod": "unstartable"}

    def certificate_expiring(self) -> Labels:
        """A certificate lives an hour."""
        self._certificate("short", "modelyard-ca", duration="1h", renewBefore="10m")
        return {"alertname": "CertificateExpiring", "namespace": self.workspace.name, "name": "short"}

    def certificate_not_ready(self) -> Labels:
        """A certificate's issuer is not there."""
        self._certificate("unsigned", "not-there")
        return {"alertname": "CertificateNotReady", "namespace": self.workspace.name, "name": "unsigned"}

    def ray_job_failed(self) -> Labels:
        """A RayJob must end within seconds, and no node has room for its cluster."""
        made = ray_job("late", {}, head="500", worker="500", submitter="100m")
        self.workspace.create({**made, "spec": {**mapping(made, "spec"), "activeDeadlineSeconds": 10}})
        return {"alertname": "RayJobFailed", "namespace": self.workspace.name, "name": "late"}

    def scaler_fails(self) -> Labels:
        """What a Deployment is to be scaled by is asked of a server that is not there."""
        self.workspace.create(_deployment("scaled"))
        server = f"http://not-there.{self.workspace.name}.svc:9090"
        metadata = {"serverAddress": server, "query": "vector(1)", "threshold": "1"}
        trigger = {"type": "prometheus", "metadata": metadata}
        spec = {"scaleTargetRef": {"name": "scaled"}, "pollingInterval": 5, "minReplicaCount": 1, "triggers": [trigger]}
        meta = {"name": "blind"}
        self.workspace.create(
            {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": meta, "spec": spec}
        )
        return {"alertname": "ScalerFails", "namespace": self.workspace.name, "scaledObject": "blind"}

    def pod_unschedulable(self) -> Labels:
        """A pod asks for a node that is not there."""
        spec = {**pod_spec(sleeper()), "nodeSelector": {"modelyard.dev/nowhere": "true"}}
        self.workspace.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "homeless"}, "spec": spec})
        return {"alertname": "PodUnschedulable", "namespace": self.workspace.name, "pod": "homeless"}

    def node_full(self) -> tuple[Labels, Labels]:
        """A simulated node, by what an exporter says of it: filling a real one would harm what else runs there."""
        notes = {"prometheus.io/scrape": "true", "prometheus.io/port": "8080"}
        self._pod("simulated-node", container(["python3", "-c", EXPORTER]), annotations=notes)
        marks = {"node": "simulated", "simulated": "true"}
        return ({"alertname": "NodeMemoryLow", **marks}, {"alertname": "NodeDiskFilling", **marks})

    def component_down(self) -> Labels:
        """A Deployment in a namespace of the platform never has a replica."""
        self.platform.create(_deployment("component"))
        return {"alertname": "ComponentDown", "namespace": self.platform.name, "deployment": "component"}

    def model_without_replica(self) -> Labels:
        """The Deployment of a model never has a replica; it is named as KServe names one."""
        self.workspace.create(_deployment("none-predictor"))
        return {"alertname": "ModelHasNoReplica", "namespace": self.workspace.name, "deployment": "none-predictor"}

    def queue_inactive(self) -> Labels:
        """A ClusterQueue names a flavor that is not there."""
        name = f"{self.workspace.name}-inactive"
        flavor = {"name": f"{name}-flavor", "resources": [{"name": "cpu", "nominalQuota": "1"}]}
        groups = [{"coveredResources": ["cpu"], "flavors": [flavor]}]
        self._create(CLUSTER_QUEUE.group, API, CLUSTER_QUEUE.kind, name, {"spec": {"resourceGroups": groups}})
        return {"alertname": "QueueInactive", "cluster_queue": name}

    def queue_stuck(self, queue: Queue) -> Labels:
        """A job asks for more than its queue has."""
        self.workspace.create(job("too-big", queue.labels, runs=sleeper(cpu="64")))
        return {"alertname": "QueueStuck", "cluster_queue": queue.name}

    def evicted(self, queue: Queue) -> Labels:
        """A job is evicted by its queue's stop, and admitted again; once alone is no fault yet."""
        self.workspace.create(job("evicted-again", queue.labels, runs=sleeper()))
        self.evict(queue, times=1)
        return {"alertname": "WorkloadsEvictedRepeatedly", "cluster_queue": queue.name}

    def evict(self, queue: Queue, *, times: int) -> None:
        """Evict that job again."""
        for _ in range(times):
            wait_until(self.workspace, "evicted-again", "Admitted")
            self._stop(queue, "HoldAndDrain")
            wait_until(self.workspace, "evicted-again", "Evicted")
            self._stop(queue, "None")
        wait_until(self.workspace, "evicted-again", "Admitted")

    def node_lost(self) -> tuple[Labels, ...]:
        """A simulated node: an object without a kubelet, said to be short of memory and to have a problem.

        Nothing runs on it. Soon its controller misses the kubelet, and no longer believes what a kubelet would say.
        """
        name = f"{self.workspace.name}-simulated"
        marks = {"type": "kwok", "modelyard.dev/simulated": "true", "kubernetes.io/os": "linux"}
        taints = [{"key": "modelyard.dev/simulated", "effect": "NoSchedule"}]
        self._create("", "v1", "Node", name, {"spec": {"taints": taints}}, labels=marks)
        conditions = [
            _condition("Ready", "False"),
            _condition("MemoryPressure", "True"),
            _condition("ReadonlyFilesystem", "True"),
        ]
        answer = self.workspace.session.transport.send(
            "PATCH",
            f"/api/v1/nodes/{name}/status",
            body={"status": {"conditions": conditions}},
            content_type="application/strategic-merge-patch+json",
        )
        assert answer.code == 200, answer.body
        return tuple({"alertname": each, "node": name} for each in ("NodeNotReady", "NodePressure", "NodeProblem"))

    def remove(self, removal: Removal) -> None:
        """Remove what is not in the namespace."""
        for ref in reversed(self._made):
            removal.remove(ref)

    def _stop(self, queue: Queue, policy: str) -> None:
        ref = ObjectRef(CLUSTER_QUEUE.group, CLUSTER_QUEUE.kind, "", queue.name)
        self.workspace.session.patch(ref, {"spec": {"stopPolicy": policy}})

    def _pod(self, name: str, runs: Object, *, annotations: Labels | None = None, restart: str = "Never") -> None:
        metadata = {"name": name, "annotations": annotations or {}}
        spec = pod_spec(runs, restart=restart)
        self.workspace.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})

    def _certificate(self, name: str, issuer: str, **more: object) -> None:
        reference = {"group": CERTIFICATE.group, "kind": "ClusterIssuer", "name": issuer}
        spec = {"secretName": name, "dnsNames": [f"{name}.test"], "issuerRef": reference, **more}
        metadata = {"name": name}
        self.workspace.create(
            {"apiVersion": "cert-manager.io/v1", "kind": CERTIFICATE.kind, "metadata": metadata, "spec": spec}
        )

    def _create(
        self, group: str, version: str, kind: str, name: str, body: Object, *, labels: Labels | None = None
    ) -> None:
        # Remembered first: what an interrupted request has made is removed too.
        self._made.append(ObjectRef(group, kind, "", name))
        metadata = {"name": name, "labels": labels or {}}
        self.workspace.session.create({"apiVersion": version, "kind": kind, "metadata": metadata, **body})


def _deployment(name: str) -> dict[str, object]:
    """Return a Deployment whose pods no node takes."""
    labels = {"app": name}
    spec = {**pod_spec(sleeper(), restart="Always"), "nodeSelector": {"modelyard.dev/nowhere": "true"}}
    template = {"metadata": {"labels": labels}, "spec": spec}
    body = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": body}


def _condition(kind: str, status: str) -> dict[str, str]:
    return {"type": kind, "status": status, "reason": "Simulated", "message": "by a conformance test"}
