"""Versions of one model, served by KServe: each adds another number to what it is asked, so answers tell versions."""

from __future__ import annotations

import base64
import json

from conformance.support import serving
from conformance.support.images import image
from conformance.support.onnx import adder
from conformance.support.pods import container, pod_spec, wait_until_succeeded
from conformance.support.volumes import Volumes
from conformance.support.workspace import Workspace
from modelyard.objects import Object

MODEL = "adder"
ASKED = 10.0
ANSWERS = {"v1": 11.0, "v2": 12.0}
CLAIM = "models"

_WRITE = """
import base64, json, pathlib, sys
for version, model in json.loads(sys.argv[1]).items():
    folder = pathlib.Path("/models", version)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(base64.b64decode(model))
"""


def server_image() -> str:
    """Return the image of the model server; it has Python, so the tests' own programs run in it too."""
    return image("kserve", "docker.io/modelyard/onnx-runtime-server")


def write(workspace: Workspace, volumes: Volumes) -> None:
    """Write all versions to a claim called `models`, each to a folder of its name."""
    volumes.claim(CLAIM)
    models = {version: base64.b64encode(adder(answer - ASKED)).decode() for version, answer in ANSWERS.items()}
    runs = container(
        ["python3", "-c", _WRITE, json.dumps(models)],
        image=server_image(),
        securityContext={"runAsUser": 0},  # a new volume is root's
        volumeMounts=[{"name": CLAIM, "mountPath": "/models"}],
    )
    spec = {**pod_spec(runs), "volumes": [{"name": CLAIM, "persistentVolumeClaim": {"claimName": CLAIM}}]}
    workspace.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "writer"}, "spec": spec})
    wait_until_succeeded(workspace, "writer")


def service(version: str) -> Object:
    """Return the InferenceService of a version. It is called as the version, its model `adder` in each."""
    return serving.service(version, {}, f"pvc://{CLAIM}/{version}", model=MODEL)
