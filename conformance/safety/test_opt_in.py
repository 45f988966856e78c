"""What the platform would do by a webhook is refused, with the command that helps, where a namespace did not opt in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from conformance.support.images import PAUSE
from conformance.support.queues import QUEUE_LABEL
from conformance.support.removal import Removal
from conformance.support.workspace import Workspace, open_workspace
from modelyard.cluster import Session
from modelyard.errors import ModelyardError
from modelyard.objects import Object

EXCLUSIVE = {"alpha.jobset.sigs.k8s.io/exclusive-topology": "kubernetes.io/hostname"}
QUEUED = {QUEUE_LABEL: "default"}
_POD = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": PAUSE}]}}
_JOB = {"template": _POD}
_REPLICATED = [{"name": "workers", "template": {"spec": _JOB}}]
_MODEL = {"model": {"modelFormat": {"name": "onnx"}, "storageUri": "pvc://none/none"}}
_LASTING = {"spec": {"containers": [{"name": "main", "image": PAUSE}]}}

REFUSED = [
    pytest.param("batch/v1", "Job", _JOB, QUEUED, {}, id="a job that names a queue"),
    pytest.param(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        {"leaderWorkerTemplate": {"size": 2, "workerTemplate": _LASTING}},
        {},
        {},
        id="a LeaderWorkerSet",
        marks=pytest.mark.needs("lws"),
    ),
    pytest.param(
        "serving.kserve.io/v1beta1",
        "InferenceService",
        {"predictor": _MODEL},
        {},
        {},
        id="an InferenceService",
        marks=pytest.mark.needs("kserve"),
    ),
    pytest.param(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        {"replicatedJobs": _REPLICATED},
        {},
        EXCLUSIVE,
        id="an exclusive JobSet",
        marks=pytest.mark.needs("jobset"),
    ),
]


@pytest.fixture
def somebodys(session: Session, removal: Removal) -> Iterator[Workspace]:
    """A namespace that has nothing to do with the platform."""
    workspace = open_workspace(session, area="safety", managed=False)
    yield workspace
    removal.remove(workspace.ref)


@pytest.mark.parametrize(("version", "kind", "spec", "labels", "annotations"), REFUSED)
def test_what_would_go_wrong_in_silence_is_refused(
    version: str,
    kind: str,
    spec: Mapping[str, object],
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    somebodys: Workspace,
    workspace: Workspace,
) -> None:
    """Seen to fail with the bindings of the policies deleted: all of them are taken."""
    metadata = {"name": "asks", "labels": dict(labels), "annotations": dict(annotations)}
    obj: Object = {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}
    with pytest.raises(ModelyardError) as refused:
        somebodys.create(obj)
    assert f"kubectl label namespace {somebodys.name} modelyard.dev/managed=true" in str(refused.value)
    workspace.create(obj)


@pytest.mark.needs("jobset")
def test_other_jobsets_run_anywhere(somebodys: Workspace) -> None:
    """They need no webhook for their pods."""
    metadata = {"name": "plain"}
    spec = {"replicatedJobs": _REPLICATED}
    somebodys.create({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": spec})
