"""The version of Trainer, which the kubeflow SDK asks for before each use."""

from __future__ import annotations

from modelyard.catalog import load
from modelyard.cluster import Session
from modelyard.objects import Object, ObjectRef, dig, strings
from modelyard.paths import data_root

NAMESPACE, NAME, KEY = "kubeflow-system", "kubeflow-trainer-public", "kubeflow_trainer_version"


def test_everybody_can_read_which_version_trainer_has(session: Session) -> None:
    """What the SDK 0.5.0 reads (KubernetesBackend.verify_backend), with the rights of anybody who is logged in.

    Seen to fail with the RoleBinding deleted (not allowed), and with the ConfigMap deleted.
    """
    assert dig(session.create(_may_anybody_read()), "status", "allowed") is True
    found = session.get(ObjectRef("", "ConfigMap", NAMESPACE, NAME)) or {}
    assert strings(found, "data").get(KEY) == load(data_root()).lock.upstreams["trainer"].version


def _may_anybody_read() -> Object:
    asked = {"namespace": NAMESPACE, "verb": "get", "resource": "configmaps", "name": NAME}
    spec = {"user": "somebody", "groups": ["system:authenticated"], "resourceAttributes": asked}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {"name": ""},
        "spec": spec,
    }
