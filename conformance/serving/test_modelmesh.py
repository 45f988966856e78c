"""ModelMesh's controller makes servers of a runtime, and says of a model what keeps it.

No model is served: ModelMesh itself is Java, and the embedded cluster has no image of it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping

import pytest
import yaml

from conformance.support.images import image
from conformance.support.removal import Removal
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace, open_workspace
from modelyard.catalog import load
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, dig, mapping, mappings, number, text
from modelyard.paths import data_root

pytestmark = [pytest.mark.needs("modelmesh"), pytest.mark.proves("modelmesh")]

RUNTIME = "ovms"
SERVERS = f"modelmesh-serving-{RUNTIME}"  # the Deployment that the controller makes of it
MODEL = "digits"
DEPLOYMENT = GroupKind("apps", "Deployment")
SERVICE = GroupKind("", "Service")
SECRET = GroupKind("", "Secret")
PREDICTOR = GroupKind("serving.kserve.io", "Predictor")


@pytest.fixture
def meshed(session: Session, removal: Removal) -> Iterator[Workspace]:
    """A namespace that ModelMesh looks at."""
    workspace = open_workspace(session, area="serving", labels={"modelmesh-enabled": "true"})
    yield workspace
    removal.remove(workspace.ref)


def test_a_runtime_becomes_a_deployment_that_is_scaled_up_for_its_first_model(meshed: Workspace) -> None:
    """The Deployment has the runtime's server between ModelMesh and its adapter, and no pod until a model needs one.

    Seen to fail with `files` left out of modelmesh-controller in manifests/serving/modelmesh/component.yaml: no
    Deployment is made.
    """
    meshed.create(_runtime())
    made = wait_for("the runtime's Deployment", lambda: meshed.get(DEPLOYMENT, SERVERS), show=lambda _: "none")
    assert number(made, "spec", "replicas") == 0
    containers = {text(each, "name"): each for each in mappings(made, "spec", "template", "spec", "containers")}
    assert {name: text(each, "image") for name, each in containers.items()} == {
        "mm": image("modelmesh", "docker.io/kserve/modelmesh"),
        "rest-proxy": image("modelmesh", "docker.io/kserve/rest-proxy"),
        "ovms": image("modelmesh", "docker.io/openvino/model_server"),
        "ovms-adapter": image("modelmesh", "docker.io/kserve/modelmesh-runtime-adapter"),
    }
    mesh, adapter = _environment(containers["mm"]), _environment(containers["ovms-adapter"])
    assert mesh["MM_SERVICE_NAME"] == "modelmesh-serving"
    assert mesh["INTERNAL_SERVING_GRPC_PORT"] == "8001"  # where the runtime answers
    assert mesh["INTERNAL_GRPC_PORT"] == adapter["ADAPTER_PORT"] == "8085"  # whom ModelMesh tells to load
    assert adapter["RUNTIME_PORT"] == "8888"
    _see_that_the_registry_is_this_namespaces(meshed, made, mesh)
    _see_that_the_service_leads_to(meshed, made)

    meshed.create(_predictor())
    wait_for(
        "the Deployment is scaled up",
        lambda: meshed.get(DEPLOYMENT, SERVERS),
        lambda found: number(found, "spec", "replicas") == 1,
        show=lambda found: f"{number(found, 'spec', 'replicas')} replicas",
    )
    told = wait_for(
        "the model's state",
        lambda: mapping(meshed.get(PREDICTOR, MODEL), "status"),
        lambda status: text(status, "lastFailureInfo", "reason") == "RuntimeUnhealthy",
        show=dict,
    )
    assert text(told, "activeModelState") == "Pending"
    assert dig(told, "available") is False


def _see_that_the_registry_is_this_namespaces(meshed: Workspace, deployment: Object, mesh: Mapping[str, str]) -> None:
    secret = next(
        text(volume, "secret", "secretName")
        for volume in mappings(deployment, "spec", "template", "spec", "volumes")
        if text(volume, "name") == "etcd-config"
    )
    kept = text(meshed.get(SECRET, secret), "data", "etcd_connection")
    connection = json.loads(base64.b64decode(kept))
    assert connection["endpoints"] == "http://etcd.modelmesh-serving.svc:2379"
    assert connection["root_prefix"] == f"modelmesh-serving/mm_ns/{meshed.name}"
    assert mesh["KV_STORE"].startswith("etcd:/") and mesh["KV_STORE"].endswith("/etcd_connection")


def _see_that_the_service_leads_to(meshed: Workspace, deployment: Object) -> None:
    service = wait_for("the models' Service", lambda: meshed.get(SERVICE, "modelmesh-serving"), show=lambda _: "none")
    selector = mapping(service, "spec", "selector")
    assert selector
    assert selector.items() <= mapping(deployment, "spec", "template", "metadata", "labels").items()


def _environment(container: Object) -> dict[str, str]:
    return {text(each, "name"): text(each, "value") for each in mappings(container, "env")}


def _runtime() -> Object:
    """Return the platform's own runtime for ModelMesh, as one of this namespace, for one server."""
    file = data_root() / "manifests" / load(data_root()).component("modelmesh").area / "modelmesh/runtimes/ovms.yaml"
    cluster_wide: Object = yaml.safe_load(file.read_text())
    spec = {**mapping(cluster_wide, "spec"), "replicas": 1}
    return {**cluster_wide, "kind": "ServingRuntime", "metadata": {"name": RUNTIME}, "spec": spec}


def _predictor() -> Object:
    spec = {
        "modelType": {"name": "openvino_ir"},  # the format that the runtime is chosen by
        "path": "digits",
        "storage": {"s3": {"secretKey": "models", "bucket": "models"}},
    }
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": PREDICTOR.kind,
        "metadata": {"name": MODEL},
        "spec": spec,
    }
