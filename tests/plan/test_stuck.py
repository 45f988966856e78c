"""What may be taken off an object that is deleted and does not go, and why it does not."""

from __future__ import annotations

from typing import Any

import pytest

from modelyard.objects import GroupKind, ObjectRef
from modelyard.plan import stuck
from modelyard.plan.desired import DIGEST
from modelyard.plan.inventory import PART_OF_LABEL
from modelyard.plan.lost import is_ours

OWN = {GroupKind("kueue.x-k8s.io", "Workload")}
MANAGED = "kueue.x-k8s.io/managed"


def obj(kind: str, version: str = "v1", *, going: bool = True, **metadata: Any) -> dict[str, Any]:
    when = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if going else {}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "namespace": "n", **when, **metadata}}


WORKLOAD = obj(
    "Workload", "kueue.x-k8s.io/v1beta2", finalizers=["foregroundDeletion", "kueue.x-k8s.io/resource-in-use"]
)


def test_all_finalizers_of_the_platform_s_kinds_may_go() -> None:
    expected = ("foregroundDeletion", "kueue.x-k8s.io/resource-in-use")
    assert stuck.removable(WORKLOAD, own=OWN, mine=()) == expected


def test_none_of_an_object_that_nobody_has_deleted() -> None:
    alive = obj("Workload", "kueue.x-k8s.io/v1beta2", going=False, finalizers=["kueue.x-k8s.io/resource-in-use"])
    assert stuck.removable(alive, own=OWN, mine=()) == ()


@pytest.mark.parametrize("kind", ["PersistentVolumeClaim", "PersistentVolume", "Namespace"])
def test_none_of_volumes_and_namespaces_though_they_are_the_platform_s(kind: str) -> None:
    held = obj(kind, finalizers=["kubernetes.io/pvc-protection", MANAGED])
    assert stuck.removable(held, own=OWN, mine={ObjectRef("", kind, "n", "x")}) == ()


def test_of_a_pod_the_platform_s_own_alone() -> None:
    pod = obj("Pod", finalizers=["batch.kubernetes.io/job-tracking", MANAGED, "example.test/theirs"])
    assert stuck.removable(pod, own=OWN, mine=()) == (MANAGED,)


def test_none_of_somebody_else_s_object() -> None:
    theirs = obj("Bucket", "storage.example.test/v1", finalizers=[MANAGED, "example.test/theirs"])
    assert stuck.removable(theirs, own=OWN, mine=()) == ()


def test_of_the_platform_s_other_objects_what_kubernetes_did_not_set() -> None:
    finalizers = ["service.kubernetes.io/load-balancer-cleanup", "foregroundDeletion", "example.test/theirs"]
    service = obj("Service", finalizers=finalizers)
    assert stuck.removable(service, own=OWN, mine={ObjectRef("", "Service", "n", "x")}) == ("example.test/theirs",)


def test_a_namespace_says_what_holds_it() -> None:
    conditions = [
        {"type": "NamespaceContentRemaining", "status": "True", "message": "1 resource instance"},
        {"type": "NamespaceFinalizersRemaining", "status": "True", "message": "finalizers remaining: a.test/b"},
    ]
    space = {**obj("Namespace"), "status": {"conditions": conditions}}
    assert stuck.staying(space) == "going; finalizers remaining: a.test/b"


def webhook(policy: str) -> dict[str, Any]:
    hook = {"name": "h", "failurePolicy": policy, "clientConfig": {"service": {"name": "s", "namespace": "n"}}}
    return {**obj("ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1"), "webhooks": [hook]}


def api_service(service: dict[str, str] | None) -> dict[str, Any]:
    return {**obj("APIService", "apiregistration.k8s.io/v1"), "spec": {"service": service, "group": "g"}}


def test_others_wait_for_webhooks_that_fail_closed_for_conversions_and_for_aggregated_apis() -> None:
    conversion = {"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "s", "namespace": "n"}}}}
    crd = {**obj("CustomResourceDefinition", "apiextensions.k8s.io/v1"), "spec": {"conversion": conversion}}
    for waited in (webhook("Fail"), crd, api_service({"name": "s", "namespace": "n"})):
        assert stuck.others_wait([waited])
    for free in (webhook("Ignore"), api_service(None), obj("Deployment", "apps/v1")):
        assert not stuck.others_wait([free])


def test_what_an_install_applied_is_told_from_what_controllers_copied() -> None:
    labels, notes = {PART_OF_LABEL: "applyset-x-v1"}, {DIGEST: "d"}
    assert is_ours(obj("Service", labels=labels, annotations=notes))
    assert not is_ours(obj("Endpoints", labels=labels))
    owner = [{"apiVersion": "v1", "kind": "Service", "name": "x"}]
    assert not is_ours(obj("EndpointSlice", labels=labels, annotations=notes, ownerReferences=owner))
    assert not is_ours(obj("ConfigMap", annotations=notes))
