"""Plain Jobs."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.support.pods import pod_spec, sleeper


def job(
    name: str,
    labels: Mapping[str, str],
    *,
    pods: int = 1,
    runs: Mapping[str, object] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, object]:
    """Return a Job whose pods all run at once, and of which none may fail.

    Args:
        name: its name.
        labels: of the queue that it goes into, of its priority.
        pods: how many.
        runs: their container; None: one that runs until it is told to stop.
        annotations: of its pods.
    """
    metadata = {"name": name, "labels": dict(labels)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": job_spec(pods, runs, annotations)}


def job_spec(
    pods: int, runs: Mapping[str, object] | None = None, annotations: Mapping[str, str] | None = None
) -> dict[str, object]:
    """Return a Job's spec."""
    template = {"metadata": {"annotations": dict(annotations or {})}, "spec": pod_spec(runs or sleeper())}
    return {"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": template}
