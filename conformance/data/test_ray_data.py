"""Ray Data through the queue: text in, filtered by a word list, Parquet out."""

from __future__ import annotations

import json

import pytest

from conformance.support.conditions import is_true
from conformance.support.examples import create_example
from conformance.support.kinds import POD
from conformance.support.pods import container, pod_spec
from conformance.support.queues import Queues
from conformance.support.volumes import Volumes
from conformance.support.waiting import wait_for
from conformance.support.workloads import wait_until, workload_of
from conformance.support.workspace import Workspace
from modelyard.objects import GroupKind, Object, text
from modelyard.paths import data_root

pytestmark = pytest.mark.proves("kuberay")

RAY_JOB = GroupKind("ray.io", "RayJob")
EXAMPLE, NAME = "ray", "text-filter"
ENDED = ("SUCCEEDED", "FAILED", "STOPPED")
# Reads with pandas what Ray has written, and knows nothing of Ray.
READER = "import pandas, sys; pandas.read_parquet('/data/parquet').to_json(sys.stdout, orient='records')"


def test_ray_data_filters_text_into_parquet_and_the_quota_is_free_again(
    workspace: Workspace, queues: Queues, volumes: Volumes
) -> None:
    """Seen to fail with KubeRay's Deployment scaled to 0 (the job stays admitted, without a Ray cluster), and with a
    filter that lets one more line through.
    """
    queue = queues.queue(cpu="1")
    volumes.claim(NAME)
    create_example(workspace, EXAMPLE, queue.labels)
    wait_until(workspace, NAME, "Admitted")

    job = wait_for("the RayJob ends", lambda: workspace.get(RAY_JOB, NAME), _ended, show=_status)
    assert text(job, "status", "jobStatus") == "SUCCEEDED", _status(job)
    assert _rows(workspace) == expected_rows()

    wait_for("the quota is free", lambda: queues.reserved_cpu(queue), lambda cpu: cpu == "0")
    assert is_true(workload_of(workspace, NAME), "Finished")
    wait_for("the Ray cluster's pods are gone", lambda: workspace.pods("ray.io/is-ray-node=yes"), lambda pods: not pods)


def expected_rows() -> list[dict[str, object]]:
    """Return the rows that the example's text and words must give, worked out without Ray."""
    folder = data_root() / "examples" / EXAMPLE
    words = (folder / "words.txt").read_text().split()
    rows = []
    for line in (folder / "text.txt").read_text().splitlines():
        found = sorted(word for word in words if word in line.lower().split())
        if found:
            rows.append({"text": line, "words": " ".join(found), "length": len(line)})
    assert 0 < len(rows) < len((folder / "text.txt").read_text().splitlines()), "the filter has nothing to do"
    return sorted(rows, key=lambda row: str(row["text"]))


def _rows(workspace: Workspace) -> list[dict[str, object]]:
    workspace.create(_reader())
    pod = wait_for("the reader ends", lambda: workspace.get(POD, "reader"), _reader_ended)
    log = workspace.logs("reader")
    assert text(pod, "status", "phase") == "Succeeded", log
    rows: list[dict[str, object]] = json.loads(log)
    return sorted(rows, key=lambda row: str(row["text"]))


def _reader() -> Object:
    mounts = [{"name": "data", "mountPath": "/data", "readOnly": True}]
    spec = pod_spec(container(["python3", "-c", READER], volumeMounts=mounts))
    spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": NAME}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "reader"}, "spec": spec}


def _reader_ended(pod: Object) -> bool:
    return text(pod, "status", "phase") in ("Succeeded", "Failed")


def _ended(job: Object) -> bool:
    return text(job, "status", "jobStatus") in ENDED


def _status(job: Object) -> str:
    return " ".join(text(job, "status", field) for field in ("jobDeploymentStatus", "jobStatus", "message"))
