"""Pods: specs of small ones, and what those that are there take from their nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from conformance.support.images import PAUSE, python_image
from conformance.support.kinds import POD
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.objects import Object, dig, mappings, text
from modelyard.quantity import parse

CPU = "50m"
# The outcome of a job's second run is given through this ConfigMap, which the first run does not find.
OUTCOME = "outcome"


def container(
    command: list[str] | None, *, image: str = "", cpu: str = CPU, limit: str = "", name: str = "main", **more: object
) -> dict[str, object]:
    """Return a container.

    Args:
        command: what it runs; None: what its image runs.
        image: which one; empty: the small Python image.
        cpu: its CPU request.
        limit: its CPU limit; empty: none.
        name: its name.
        more: further fields.
    """
    resources = {"requests": {"cpu": cpu, "memory": "32Mi"}} | ({"limits": {"cpu": limit}} if limit else {})
    return {
        "name": name,
        "image": image or python_image(),
        "imagePullPolicy": "IfNotPresent",
        "resources": resources,
        **({"command": command} if command else {}),
        **more,
    }


def sleeper(*, cpu: str = CPU, name: str = "main") -> dict[str, object]:
    """Return a container that runs until it is told to stop."""
    return container(None, image=PAUSE, cpu=cpu, name=name)


def scripted(otherwise: str, *, cpu: str = CPU) -> dict[str, object]:
    """Return a container that runs the shell command in the ConfigMap `outcome`, or `otherwise` where there is none.

    What it finds when it starts counts: so a test decides how a job's second run ends.
    """
    source = {"configMapKeyRef": {"name": OUTCOME, "key": "command", "optional": True}}
    return container(
        ["bash", "-c", f"eval ${{OUTCOME:-{otherwise}}}"], cpu=cpu, env=[{"name": "OUTCOME", "valueFrom": source}]
    )


def decide(workspace: Workspace, command: str) -> None:
    """Let what `scripted` starts from now on run `command`."""
    workspace.apply(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": OUTCOME}, "data": {"command": command}}
    )


def pod_spec(*containers: Mapping[str, object], restart: str = "Never") -> dict[str, object]:
    """Return a pod's spec that ends quickly when it is deleted."""
    return {"restartPolicy": restart, "terminationGracePeriodSeconds": 1, "containers": list(containers)}


def occupying(pods: Iterable[Object]) -> list[Object]:
    """Return the pods that hold a part of a node: they are bound to it and have not ended."""
    return [
        pod
        for pod in pods
        if text(pod, "spec", "nodeName") and text(pod, "status", "phase") not in ("Succeeded", "Failed")
    ]


def running(pods: Iterable[Object]) -> list[Object]:
    """Return the pods that run and are not on their way out."""
    return [
        pod
        for pod in pods
        if text(pod, "status", "phase") == "Running" and not text(pod, "metadata", "deletionTimestamp")
    ]


def cpu_request(pod: Object) -> Decimal:
    """Return the CPUs that a pod takes from its node, as the scheduler counts them.

    https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
    """
    initial = mappings(pod, "spec", "initContainers")
    always = [each for each in initial if text(each, "restartPolicy") == "Always"]
    together = sum(map(_cpu, [*mappings(pod, "spec", "containers"), *always]), Decimal(0))
    return max([together, *map(_cpu, initial)]) + (parse(dig(pod, "spec", "overhead", "cpu")) or Decimal(0))


def _cpu(container: Object) -> Decimal:
    return parse(dig(container, "resources", "requests", "cpu")) or Decimal(0)


def states(pods: Iterable[Object]) -> str:
    """Return each pod's name and phase."""
    return ", ".join(f"{text(pod, 'metadata', 'name')} {text(pod, 'status', 'phase')}" for pod in pods) or "no pod"


def wait_until_succeeded(workspace: Workspace, name: str) -> None:
    """Wait until a pod has ended, and well; else what it has written is the failure."""
    pod = wait_for(
        f"pod {name} has ended",
        lambda: workspace.get(POD, name),
        lambda found: text(found, "status", "phase") in ("Succeeded", "Failed"),
        show=lambda found: text(found, "status", "phase"),
    )
    assert text(pod, "status", "phase") == "Succeeded", workspace.logs(name)


def wait_until_gone(workspace: Workspace, job: str) -> None:
    """Wait until a Job has no pod on any node: eviction tells them to stop, and they take their grace period."""
    wait_for(
        f"the pods of {job} are gone",
        lambda: occupying(workspace.pods(f"job-name={job}")),
        lambda pods: not pods,
        show=states,
    )
