"""When our custom resources count as ready: statuses as their controllers write them, and what each means."""

from __future__ import annotations

import pytest

from modelyard.catalog import Catalog
from modelyard.objects import Object
from modelyard.readiness import Status, assess, rules_from

# kind, apiVersion, condition (type, status, reason) or None for a status that is not there yet, what it means
CASES = [
    ("Certificate", "cert-manager.io/v1", None, Status.IN_PROGRESS),
    ("Certificate", "cert-manager.io/v1", ("Ready", "False", "DoesNotExist"), Status.IN_PROGRESS),
    ("Certificate", "cert-manager.io/v1", ("Ready", "True", "Ready"), Status.CURRENT),
    ("Certificate", "cert-manager.io/v1", ("Issuing", "False", "Failed"), Status.FAILED),
    ("ClusterIssuer", "cert-manager.io/v1", None, Status.IN_PROGRESS),
    ("ClusterIssuer", "cert-manager.io/v1", ("Ready", "False", "ErrGetKeyPair"), Status.IN_PROGRESS),
    ("ClusterIssuer", "cert-manager.io/v1", ("Ready", "False", "ErrInvalidKeyPair"), Status.FAILED),
    ("ClusterIssuer", "cert-manager.io/v1", ("Ready", "True", "KeyPairVerified"), Status.CURRENT),
    ("ClusterQueue", "kueue.x-k8s.io/v1beta2", None, Status.IN_PROGRESS),
    ("ClusterQueue", "kueue.x-k8s.io/v1beta2", ("Active", "False", "FlavorNotFound"), Status.IN_PROGRESS),
    ("ClusterQueue", "kueue.x-k8s.io/v1beta2", ("Active", "False", "Stopped"), Status.FAILED),
    ("ClusterQueue", "kueue.x-k8s.io/v1beta2", ("Active", "True", "Ready"), Status.CURRENT),
    ("Gateway", "gateway.networking.k8s.io/v1", None, Status.IN_PROGRESS),
    ("Gateway", "gateway.networking.k8s.io/v1", ("Programmed", "Unknown", "Pending"), Status.IN_PROGRESS),
    ("Gateway", "gateway.networking.k8s.io/v1", ("Accepted", "False", "Pending"), Status.IN_PROGRESS),
    ("Gateway", "gateway.networking.k8s.io/v1", ("Accepted", "False", "ListenersNotValid"), Status.FAILED),
    ("Gateway", "gateway.networking.k8s.io/v1", ("Programmed", "True", "Programmed"), Status.CURRENT),
    ("GatewayClass", "gateway.networking.k8s.io/v1", None, Status.IN_PROGRESS),
    ("GatewayClass", "gateway.networking.k8s.io/v1", ("Accepted", "Unknown", "Pending"), Status.IN_PROGRESS),
    ("GatewayClass", "gateway.networking.k8s.io/v1", ("Accepted", "False", "InvalidParameters"), Status.FAILED),
    ("GatewayClass", "gateway.networking.k8s.io/v1", ("Accepted", "True", "Accepted"), Status.CURRENT),
    ("EC2NodeClass", "karpenter.k8s.aws/v1", None, Status.IN_PROGRESS),
    ("EC2NodeClass", "karpenter.k8s.aws/v1", ("Ready", "False", "UnhealthyDependents"), Status.IN_PROGRESS),
    ("EC2NodeClass", "karpenter.k8s.aws/v1", ("Ready", "True", "Ready"), Status.CURRENT),
    ("LocalQueue", "kueue.x-k8s.io/v1beta2", None, Status.IN_PROGRESS),
    ("LocalQueue", "kueue.x-k8s.io/v1beta2", ("Active", "False", "ClusterQueueIsInactive"), Status.IN_PROGRESS),
    ("LocalQueue", "kueue.x-k8s.io/v1beta2", ("Active", "True", "Ready"), Status.CURRENT),
    ("NodeFeatureDiscovery", "nfd.openshift.io/v1", None, Status.IN_PROGRESS),
    ("NodeFeatureDiscovery", "nfd.openshift.io/v1", ("Available", "False", "x"), Status.IN_PROGRESS),
    ("NodeFeatureDiscovery", "nfd.openshift.io/v1", ("Degraded", "True", "x"), Status.FAILED),
    ("NodeFeatureDiscovery", "nfd.openshift.io/v1", ("Available", "True", "x"), Status.CURRENT),
    ("NodePool", "karpenter.sh/v1", None, Status.IN_PROGRESS),
    ("NodePool", "karpenter.sh/v1", ("Ready", "False", "NodeClassNotReady"), Status.IN_PROGRESS),
    ("NodePool", "karpenter.sh/v1", ("Ready", "True", "Ready"), Status.CURRENT),
]


def test_a_gateway_whose_controller_has_not_seen_its_last_change_is_not_ready(catalog: Catalog) -> None:
    entries = [e.model_dump() for e in catalog.component("gateway-api").readiness.healthCheckExprs]
    changed = _object("Gateway", "gateway.networking.k8s.io/v1", ("Programmed", "True", "Programmed"))
    later = {**changed, "metadata": {"name": "x", "generation": 2}}
    assert assess(later, rules_from(entries)).status == Status.IN_PROGRESS


# (status of a Subscription of OLM, what it means)
SUBSCRIPTIONS: list[tuple[dict[str, object], Status]] = [
    ({}, Status.IN_PROGRESS),
    ({"state": "UpgradePending", "installedCSV": "x.v1"}, Status.IN_PROGRESS),
    ({"state": "AtLatestKnown"}, Status.IN_PROGRESS),
    ({"state": "AtLatestKnown", "installedCSV": "x.v1"}, Status.CURRENT),
    ({"conditions": [{"type": "ResolutionFailed", "status": "True", "reason": "x"}]}, Status.FAILED),
    ({"conditions": [{"type": "ResolutionFailed", "status": "False", "reason": "x"}]}, Status.IN_PROGRESS),
]


def _object(kind: str, api: str, condition: tuple[str, str, str] | None) -> Object:
    obj: dict[str, object] = {"apiVersion": api, "kind": kind, "metadata": {"name": "x", "generation": 1}, "spec": {}}
    if condition is not None:
        parts = dict(zip(("type", "status", "reason"), condition, strict=True))
        obj["status"] = {"conditions": [parts | {"observedGeneration": 1}]}
    return obj


@pytest.mark.parametrize(("kind", "api", "condition", "meaning"), CASES)
def test_status_means(
    kind: str, api: str, condition: tuple[str, str, str] | None, meaning: Status, catalog: Catalog
) -> None:
    entries = [e.model_dump() for c in catalog.components.values() for e in c.readiness.healthCheckExprs]
    assert assess(_object(kind, api, condition), rules_from(entries)).status == meaning


@pytest.mark.parametrize(("status", "meaning"), SUBSCRIPTIONS)
def test_a_subscription_is_ready_once_olm_has_installed_it(
    status: dict[str, object], meaning: Status, catalog: Catalog
) -> None:
    entries = [e.model_dump() for c in catalog.components.values() for e in c.readiness.healthCheckExprs]
    found = {**_object("Subscription", "operators.coreos.com/v1alpha1", None), "status": status}
    assert assess(found, rules_from(entries)).status == meaning


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        ({}, Status.IN_PROGRESS),
        ({"state": "notReady"}, Status.IN_PROGRESS),
        ({"state": "ready"}, Status.CURRENT),
    ],
)
def test_a_cluster_policy_is_ready_once_it_says_so(
    status: dict[str, object], meaning: Status, catalog: Catalog
) -> None:
    entries = [e.model_dump() for c in catalog.components.values() for e in c.readiness.healthCheckExprs]
    found = {**_object("ClusterPolicy", "nvidia.com/v1", None), "status": status}
    assert assess(found, rules_from(entries)).status == meaning


def test_every_expression_is_tried_both_ways(catalog: Catalog) -> None:
    kinds = {e.kind for c in catalog.components.values() for e in c.readiness.healthCheckExprs}
    assert kinds == {kind for kind, *_ in CASES} | {"Subscription", "ClusterPolicy"}
