"""An InferenceService of a test's own, and requests to it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from conformance.support.conditions import is_true, summary
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.objects import GroupKind, Object

INFERENCE_SERVICE = GroupKind("serving.kserve.io", "InferenceService")


def service(name: str, labels: Mapping[str, str], storage: str, *, model: str = "") -> Object:
    """Return an InferenceService for the ONNX model at `storage`.

    Args:
        name: its name, and the model's.
        labels: of the queue that its pods go through.
        storage: where the model is ("pvc://claim/folder").
        model: the model's name in requests, where it is not the service's.
    """
    served = {
        "modelFormat": {"name": "onnx"},
        "storageUri": storage,
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
        **({"args": [f"--model_name={model}"]} if model else {}),  # the last one counts
    }
    annotations = {"serving.kserve.io/autoscalerClass": "none"}
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": name, "labels": dict(labels), "annotations": annotations},
        "spec": {"predictor": {"minReplicas": 1, "model": served}},
    }


def wait_until_ready(workspace: Workspace, name: str) -> None:
    """Wait until the service says that it is ready."""
    wait_for(
        f"InferenceService {name} is ready",
        lambda: workspace.get(INFERENCE_SERVICE, name),
        lambda found: is_true(found, "Ready"),
        show=summary,
    )


def ask(workspace: Workspace, name: str, path: str, body: Object) -> Object:
    """Send a request to the service's predictor through the apiserver; return its answer."""
    namespaced = f"/api/v1/namespaces/{workspace.name}/services/{name}-predictor:80/proxy"
    answer = workspace.session.transport.send("POST", f"{namespaced}/{path}", body=body)
    assert answer.code == 200, f"{path}: {answer.code} {answer.body.decode(errors='replace')}"
    found: Object = json.loads(answer.body)
    return found
