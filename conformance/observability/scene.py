"""What dashboards and alerts look at: a queue with jobs that run, wait and are evicted, a model that is asked, a GPU.

The GPU is simulated: a pod with the labels of NVIDIA's exporter, whose series say so.
"""

from __future__ import annotations

import base64
import json

from conformance.support.job_kinds import ray_cluster, ray_job
from conformance.support.jobs import job
from conformance.support.kinds import JOB
from conformance.support.onnx import identity
from conformance.support.pods import container, pod_spec, running, states
from conformance.support.queues import Queue, Queues
from conformance.support.removal import Removal
from conformance.support.serving import service, wait_until_ready
from conformance.support.volumes import Volumes
from conformance.support.waiting import wait_for
from conformance.support.workloads import wait_until, wait_until_held
from conformance.support.workspace import Workspace
from modelyard.objects import Object, mappings, number, text

MODEL = "echo"
BUSY = "while :; do :; done"
EXPORTER = """
import http.server, time
LABELS = 'gpu="0",UUID="GPU-simulated",device="nvidia0",modelName="simulated",Hostname="simulated"'
class Metrics(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        now = time.monotonic()
        values = {
            "DCGM_FI_DEV_GPU_UTIL": 87, "DCGM_FI_DEV_FB_USED": 60000, "DCGM_FI_DEV_FB_FREE": 20000,
            "DCGM_FI_DEV_GPU_TEMP": 93, "DCGM_FI_DEV_POWER_USAGE": 512, "DCGM_FI_DEV_SM_CLOCK": 1400,
            "DCGM_FI_DEV_THERMAL_VIOLATION": int(now * 2e5), "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL": int(now * 1e4),
            "DCGM_FI_DEV_XID_ERRORS": 79, "DCGM_FI_DEV_ROW_REMAP_FAILURE": 1,
        }
        body = "".join(f"{name}{{{LABELS}}} {value}\\n" for name, value in values.items()).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("", 9400), Metrics).serve_forever()
"""


class Scene:
    """All of it, in one namespace.

    Args:
        workspace: where.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.queues = Queues(workspace)
        self._volumes = Volumes(workspace)
        self._short = 0
        self._last = ""

    def open(self) -> None:
        """Start everything, and wait until each part is what it should be."""
        work = self.workspace
        self.queue: Queue = self.queues.queue(cpu="200m")
        self._serve()
        work.create(_exporter())
        self._evict()
        work.create(job("waiting", self.queue.labels, runs=_runs("sleep infinity", cpu="200m")))
        wait_until_held(work, "waiting")
        # Held, too: what KubeRay says of them does not need their pods.
        work.create(ray_cluster("cluster", self.queue.labels, head="300m", worker="100m"))
        work.create(ray_job("ray", self.queue.labels, head="300m", worker="100m", submitter="100m"))
        wait_for("the simulated GPU", lambda: running(work.pods("app=nvidia-dcgm-exporter")), show=states)
        wait_until_ready(work, MODEL)

    def stir(self) -> None:
        """Ask the model, once well and once not, and let one short job after another through the queue."""
        assert self.ask([[1.5]]) == 200, "the model does not answer"
        assert self.ask([["no number"]]) >= 400, "the model answers nonsense"
        if self._last and not _ended(self.workspace.get(JOB, self._last)):
            return
        self._short += 1
        self._last = f"short-{self._short}"
        self.workspace.create(job(self._last, self.queue.labels, runs=_runs("sleep 1", cpu="50m")))

    def ask(self, instances: object) -> int:
        """Send the model a request; return its status."""
        path = f"/api/v1/namespaces/{self.workspace.name}/services/{MODEL}-predictor:80/proxy/v1/models/{MODEL}:predict"
        return self.workspace.session.transport.send("POST", path, body={"instances": instances}).code

    def close(self, removal: Removal) -> None:
        """Remove what is not in the namespace."""
        self._volumes.remove(removal)
        self.queues.remove(removal)

    def _serve(self) -> None:
        """Write the model and serve it."""
        claim = self._volumes.claim("models")
        content = base64.b64encode(identity()).decode()
        script = f"mkdir -p /data/v1 && echo {content} | base64 -d >/data/v1/model.onnx"
        mounts = [{"name": "data", "mountPath": "/data"}]
        spec = pod_spec(container(["bash", "-c", script], volumeMounts=mounts, securityContext={"runAsUser": 0}))
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "writer", "labels": {"app": "writer"}}}
        self.workspace.create({**pod, "spec": spec})
        wait_for(
            "the model is written",
            lambda: self.workspace.pods("app=writer"),
            lambda pods: text(pods[0], "status", "phase") == "Succeeded",
            show=states,
        )
        self.workspace.apply(service(MODEL, {}, f"pvc://{claim}/v1"))

    def _evict(self) -> None:
        """Let a job be evicted by one of more priority, which then runs all the time."""
        work = self.workspace
        work.create(job("evicted", self.queue.labels, runs=_runs("sleep infinity", cpu="150m")))
        wait_until(work, "evicted", "Admitted")
        labels = {**self.queue.labels, **self.queues.priority(1000)}
        work.create(job("running", labels, runs=_runs(BUSY, cpu="100m")))
        wait_until(work, "running", "Admitted")
        wait_for("the job runs", lambda: running(work.pods("job-name=running")), show=states)


def _runs(script: str, *, cpu: str) -> dict[str, object]:
    return container(["bash", "-c", script], cpu=cpu, limit="200m")


def _ended(found: Object) -> bool:
    return bool(found) and number(found, "status", "succeeded") + number(found, "status", "failed") > 0


def _exporter() -> dict[str, object]:
    """Return the pod that plays NVIDIA's exporter."""
    labels = {"app": "nvidia-dcgm-exporter", "modelyard.dev/simulated": "true"}
    spec = pod_spec(container(["python3", "-c", EXPORTER], ports=[{"name": "metrics", "containerPort": 9400}]))
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "gpu", "labels": labels}, "spec": spec}


def expressions(board: str) -> dict[str, str]:
    """Return the expressions of a dashboard's panels, by what they are called.

    Args:
        board: the dashboard's JSON.
    """
    return {
        f"{text(panel, 'title')} ({text(target, 'refId')})": text(target, "expr")
        for panel in mappings(json.loads(board), "panels")
        for target in mappings(panel, "targets")
    }
