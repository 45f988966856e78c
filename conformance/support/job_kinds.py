"""A job of every kind that Kueue manages, made of pods that run until they are stopped."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.support.images import image, python_image
from conformance.support.jobs import job_spec
from conformance.support.pods import container, pod_spec, sleeper
from modelyard.objects import Object

Labels = Mapping[str, str]


def job_set(name: str, labels: Labels, groups: Mapping[str, int], *, cpu: str) -> dict[str, object]:
    """Return a JobSet with a Job for each group of so many pods."""
    jobs = [
        {"name": group, "replicas": 1, "template": {"spec": job_spec(pods, sleeper(cpu=cpu))}}
        for group, pods in groups.items()
    ]
    return _object("jobset.x-k8s.io/v1alpha2", "JobSet", name, labels, {"replicatedJobs": jobs})


def leader_worker_set(name: str, labels: Labels, *, size: int, cpu: str) -> dict[str, object]:
    """Return a LeaderWorkerSet of one group of `size` pods."""
    template = {"size": size, "workerTemplate": {"spec": pod_spec(sleeper(cpu=cpu), restart="Always")}}
    spec = {"replicas": 1, "leaderWorkerTemplate": template}
    return _object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", name, labels, spec)


def train_job(name: str, labels: Labels, *, nodes: int, cpu: str) -> dict[str, object]:
    """Return a TrainJob on `nodes` pods of upstream's torch runtime."""
    trainer = {
        "numNodes": nodes,
        "image": python_image(),
        "command": ["sleep", "infinity"],
        "resourcesPerNode": {"requests": {"cpu": cpu, "memory": "32Mi"}},
    }
    spec = {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer}
    return _object("trainer.kubeflow.org/v1alpha1", "TrainJob", name, labels, spec)


def app_wrapper(name: str, labels: Labels, *components: Object, annotations: Labels | None = None) -> dict[str, object]:
    """Return an AppWrapper of some objects."""
    spec = {"components": [{"template": component} for component in components]}
    wrapper = _object("workload.codeflare.dev/v1beta2", "AppWrapper", name, labels, spec)
    return {**wrapper, "metadata": {"name": name, "labels": dict(labels), "annotations": dict(annotations or {})}}


def ray_cluster(name: str, labels: Labels, *, head: str, worker: str) -> dict[str, object]:
    """Return a RayCluster of a head and one worker; the arguments are their CPUs."""
    return _object("ray.io/v1", "RayCluster", name, labels, _ray_cluster(head, worker))


def ray_job(name: str, labels: Labels, *, head: str, worker: str, submitter: str) -> dict[str, object]:
    """Return a RayJob that runs until it is deleted, with a pod that submits it; the arguments are their CPUs."""
    pod = {"restartPolicy": "Never", "containers": [container(None, cpu=submitter, name="ray-job-submitter")]}
    spec = {
        "entrypoint": "sleep 3600",
        "shutdownAfterJobFinishes": True,
        "submitterPodTemplate": {"spec": pod},
        "rayClusterSpec": _ray_cluster(head, worker),
    }
    return _object("ray.io/v1", "RayJob", name, labels, spec)


def inference_service(name: str, labels: Labels, *, replicas: int, cpu: str) -> dict[str, object]:
    """Return an InferenceService whose Deployment has so many pods; they run without serving."""
    predictor = {
        "minReplicas": replicas,
        "maxReplicas": replicas,
        "containers": [sleeper(cpu=cpu, name="kserve-container")],
    }
    service = _object("serving.kserve.io/v1beta1", "InferenceService", name, labels, {"predictor": predictor})
    annotations = {"serving.kserve.io/autoscalerClass": "none"}
    return {**service, "metadata": {"name": name, "labels": dict(labels), "annotations": annotations}}


def _ray_cluster(head: str, worker: str) -> Object:
    start = {"num-cpus": "1", "no-monitor": "true"}
    return {
        "rayVersion": image("kuberay", "docker.io/rayproject/ray").rpartition(":")[2].partition("-")[0],
        "headGroupSpec": {"rayStartParams": start, "template": {"spec": {"containers": [_ray("ray-head", head)]}}},
        "workerGroupSpecs": [
            {
                "groupName": "workers",
                "replicas": 1,
                "minReplicas": 1,
                "maxReplicas": 1,
                "rayStartParams": {"num-cpus": "1"},
                "template": {"spec": {"containers": [_ray("ray-worker", worker)]}},
            }
        ],
    }


def _ray(name: str, cpu: str) -> Object:
    resources = {"requests": {"cpu": cpu, "memory": "768Mi"}, "limits": {"memory": "2Gi"}}
    quiet = [{"name": "RAY_USAGE_STATS_ENABLED", "value": "0"}]
    return {**container(None, name=name), "resources": resources, "env": quiet}


def _object(version: str, kind: str, name: str, labels: Labels, spec: Object) -> dict[str, object]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": dict(labels)}, "spec": dict(spec)}
