"""Which clusters a target refuses."""

from __future__ import annotations

import pytest

from modelyard.catalog import Target, load
from modelyard.paths import data_root
from modelyard.plan.cluster_kind import wrong_platform

TARGETS = load(data_root()).targets
PLAIN = {"", "apps", "batch", "rbac.authorization.k8s.io"}
OPENSHIFT = PLAIN | {"config.openshift.io", "security.openshift.io", "route.openshift.io", "operators.coreos.com"}
EKS = PLAIN | {"vpcresources.k8s.aws", "crd.k8s.amazonaws.com"}
GKE = PLAIN | {"networking.gke.io", "cloud.google.com"}


@pytest.mark.parametrize(
    ("target", "groups", "said"),
    [
        ("openshift", OPENSHIFT, ""),
        ("openshift", EKS, "has no API group config.openshift.io, security.openshift.io, route.openshift.io"),
        ("openshift", OPENSHIFT - {"route.openshift.io"}, "has no API group route.openshift.io, which"),
        ("cloud", PLAIN, ""),
        ("cloud", OPENSHIFT | EKS, "has API group config.openshift.io, which no cluster of target cloud has"),
        ("cloud-eks", EKS, ""),
        ("cloud-eks", OPENSHIFT | EKS, "has API group config.openshift.io"),
        ("cloud-eks", GKE, "has API group networking.gke.io"),
        ("cloud-gke", GKE, ""),
        ("cloud-gke", EKS, "has API group vpcresources.k8s.aws"),
        ("cloud-aks", PLAIN, ""),
        ("cloud-aks", GKE, "has API group networking.gke.io"),
        ("kind", PLAIN, ""),
        ("local", OPENSHIFT, ""),
    ],
)
def test_a_target_refuses_clusters_of_another_kind(target: str, groups: set[str], said: str) -> None:
    reason = wrong_platform(TARGETS[target], groups)
    assert said in reason if said else reason == ""


def test_no_target_refuses_what_it_requires() -> None:
    assert [t.name for t in TARGETS.values() if set(t.requiresApiGroups) & set(t.refusesApiGroups)] == []


def test_a_target_without_groups_takes_every_cluster() -> None:
    target = Target.model_validate({"name": "own", "summary": "x", "profiles": {"core": []}})
    assert wrong_platform(target, OPENSHIFT) == ""
