"""Whose a live object is, by its marks and by who wrote it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.plan.inventory import PART_OF_LABEL, applyset_id
from modelyard.plan.owners import UNKNOWN, bringers, in_every_namespace, marked_by, owner_of

Obj = dict[str, Any]
TRACKING = "argocd.argoproj.io/tracking-id"
SPEC = {"f:spec": {"f:replicas": {}, "f:selector": {}}}
ONE = {"f:metadata": {"f:annotations": {"f:x": {}}}}


def entry(manager: str, fields: Obj | None = None, operation: str = "Update", subresource: str = "") -> Obj:
    more = {"subresource": subresource} if subresource else {}
    return {"manager": manager, "operation": operation, "apiVersion": "apps/v1", "fieldsV1": fields or SPEC, **more}


def live(*entries: Obj, labels: Obj | None = None, annotations: Obj | None = None, **metadata: Any) -> Obj:
    marks = {"labels": labels or {}, "annotations": annotations or {}}
    metadata = {"name": "x", "namespace": "ns", "managedFields": list(entries), **marks, **metadata}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}


@pytest.mark.parametrize(
    ("labels", "annotations", "owner"),
    [
        ({}, {}, ""),
        ({"app.kubernetes.io/managed-by": "kustomize"}, {"cert-manager.io/inject-ca-from": "a/b"}, ""),
        (
            {"platform.opendatahub.io/part-of": "kserve", "olm.managed": "true"},
            {},
            "Open Data Hub or OpenShift AI, component kserve",
        ),
        (
            {"olm.managed": "true", "operators.coreos.com/kueue-operator.openshift-kueue-operator": ""},
            {},
            "OLM, operator kueue-operator.openshift-kueue-operator",
        ),
        ({"olm.owner": "keda.v2.17"}, {}, "OLM, keda.v2.17"),
        ({"olm.managed": "true"}, {}, "OLM"),
        ({"olm.managed": "false"}, {}, ""),
        ({}, {"meta.helm.sh/release-name": "kueue"}, "Helm, release kueue"),
        ({"argocd.argoproj.io/instance": "ray"}, {}, "Argo CD, application ray"),
        ({}, {TRACKING: "ray:apps/Deployment:ns/x"}, "Argo CD, application ray"),
        ({}, {TRACKING: "ray:apps/Deployment:ns/other"}, ""),  # copied from another object
        ({}, {TRACKING: "ray:apps/DaemonSet:ns/x"}, ""),
        ({"app.kubernetes.io/instance": "keda"}, {}, ""),  # charts set it too
        ({"kustomize.toolkit.fluxcd.io/name": "ray"}, {}, "Flux, Kustomization ray"),
        (
            {"helm.toolkit.fluxcd.io/name": "ray"},
            {"meta.helm.sh/release-name": "ray-release"},
            "Flux, HelmRelease ray",
        ),
        ({"addonmanager.kubernetes.io/mode": "Reconcile"}, {}, "the cluster's add-on manager (mode Reconcile)"),
        ({"eks.amazonaws.com/component": "coredns"}, {}, "an add-on of EKS, coredns"),
    ],
)
def test_an_objects_owner_is_told_from_its_marks(labels: Obj, annotations: Obj, owner: str) -> None:
    found = live(labels=labels, annotations=annotations)
    assert marked_by(found) == owner
    assert owner_of(found) == (owner or UNKNOWN)


@pytest.mark.parametrize(
    ("entries", "owner"),
    [
        ([entry("kubectl-client-side-apply"), entry("kube-controller-manager", subresource="status")], "kubectl apply"),
        ([entry("helm"), entry("kubectl-edit", ONE)], "Helm"),
        ([entry("argocd-controller", operation="Apply")], "Argo CD"),
        ([entry("kustomize-controller", operation="Apply")], "Flux, a Kustomization"),
        ([entry("eks", operation="Apply")], "an add-on of EKS"),
        ([entry("cert-manager-cainjector", ONE), entry("some-operator")], "field manager some-operator"),
        ([entry("kube-controller-manager"), entry("some-operator", ONE)], "field manager some-operator"),
        ([entry("kube-apiserver")], "Kubernetes itself"),
        ([entry("some-operator", subresource="status")], UNKNOWN),
        ([], UNKNOWN),
    ],
)
def test_without_marks_an_objects_owner_is_who_wrote_it(entries: list[Obj], owner: str) -> None:
    assert owner_of(live(*entries)) == owner


def test_argo_cds_label_counts_where_argo_cd_wrote_the_object() -> None:
    found = live(entry("argocd-controller"), labels={"app.kubernetes.io/instance": "team-kueue"})
    assert owner_of(found) == "Argo CD, application team-kueue"


def test_an_object_of_another_component_or_applyset_says_so() -> None:
    found = live(labels={PART_OF_LABEL: applyset_id("kueue")})
    assert owner_of(found, applysets={applyset_id("kueue"): "kueue"}) == "modelyard, component kueue"
    assert owner_of(found) == f"ApplySet {applyset_id('kueue')}"


def test_what_an_operator_made_belongs_to_the_object_that_it_names() -> None:
    found = live(entry("manager"), ownerReferences=[{"kind": "Kserve", "name": "default-kserve"}])
    assert owner_of(found) == "Kserve default-kserve"


def test_an_object_of_ours_that_lost_its_label_is_told_as_that() -> None:
    found = live(entry("modelyard", operation="Apply"), annotations={"modelyard.dev/digest": "x"})
    assert owner_of(found).startswith("modelyard, but without its label")


def test_what_kubernetes_makes_in_every_namespace_is_nobodys_until_somebody_takes_it() -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "ns"}}
    assert in_every_namespace(account)
    taken = {**account, "metadata": {**account["metadata"], "managedFields": [entry("kubectl-client-side-apply")]}}
    assert not in_every_namespace(taken)
    assert not in_every_namespace({**account, "metadata": {**account["metadata"], "name": "robot"}})
    assert not in_every_namespace({**account, "apiVersion": "example.com/v1"})


NAMES = st.sampled_from(["helm", "kubectl", "kubectl-edit", "some-operator", "kubelet", "kube-apiserver", "modelyard"])
ENTRIES = st.lists(
    st.builds(entry, NAMES, st.sampled_from([SPEC, ONE, {}]), subresource=st.sampled_from(["", "status"])), max_size=5
)


@given(ENTRIES)
def test_bringers_are_among_those_who_wrote_and_do_not_depend_on_the_order(entries: list[Obj]) -> None:
    found = bringers(live(*entries))
    assert found == bringers(live(*reversed(entries)))
    assert found <= {each["manager"] for each in entries if "subresource" not in each}
    assert not found & {"kubelet", "kube-apiserver"}
    assert owner_of(live(*entries)) == owner_of(live(*reversed(entries)))
