"""Whose is a live object? Told from the marks that managers leave on it, and from who wrote its fields. Pure.

Sources of the marks: https://helm.sh/docs/topics/charts_tips_and_tricks, https://argo-cd.readthedocs.io (resource
tracking), https://fluxcd.io/flux (owner labels), https://olm.operatorframework.io, and the add-on managers of
Kubernetes (cluster/addons/addon-manager), EKS, AKS, GKE and k3s. Open Data Hub's was read in its operator
(DefaultPartOfLabelKey).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from modelyard.objects import Object, ObjectRef, annotations_of, labels_of, mapping, mappings, ref_of, text
from modelyard.plan.desired import DIGEST
from modelyard.plan.inventory import PART_OF_LABEL

UNKNOWN = "unknown"
OWN_MANAGER = "modelyard"
_KUBERNETES = "Kubernetes itself"
_PART_OF_ARGO = "Argo CD, application {}"
# The more telling comes first: OLM runs the operator that applies what Open Data Hub labels, and Flux' HelmRelease
# leaves Helm's annotations too.
_MARKS = (
    ("platform.opendatahub.io/part-of", "Open Data Hub or OpenShift AI, component {}"),
    ("olm.owner", "OLM, {}"),
    ("olm.operatorframework.io/owner-name", "OLM, {}"),
    ("argocd.argoproj.io/instance", _PART_OF_ARGO),
    ("helm.toolkit.fluxcd.io/name", "Flux, HelmRelease {}"),
    ("kustomize.toolkit.fluxcd.io/name", "Flux, Kustomization {}"),
    ("meta.helm.sh/release-name", "Helm, release {}"),
    ("kapp.k14s.io/app", "kapp, app {}"),
    ("configsync.gke.io/resource-id", "Config Sync"),
    ("objectset.rio.cattle.io/owner-name", "k3s or Rancher, {}"),
    ("addonmanager.kubernetes.io/mode", "the cluster's add-on manager (mode {})"),
    ("kubernetes.azure.com/managedby", "an add-on of AKS"),
    ("eks.amazonaws.com/component", "an add-on of EKS, {}"),
    ("components.gke.io/component-name", "an add-on of GKE, {}"),
    ("components.gke.io/layer", "an add-on of GKE"),
    ("kubernetes.io/bootstrapping", _KUBERNETES),
    ("kube-aggregator.kubernetes.io/automanaged", _KUBERNETES),
)
_OLM_PACKAGE = "operators.coreos.com/"
_OLM_MANAGED = "olm.managed"
_TRACKING = "argocd.argoproj.io/tracking-id"
_INSTANCE = "app.kubernetes.io/instance"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_ARGO_MANAGERS = frozenset({"argocd-controller", "argocd-application-controller"})
# Field managers of those that bring whole objects, and what they are called.
_APPLIERS = {
    **dict.fromkeys(_ARGO_MANAGERS, "Argo CD"),
    "helm-controller": "Flux, a HelmRelease",
    "kustomize-controller": "Flux, a Kustomization",
    "helm": "Helm",
    "Helm": "Helm",
    "before-first-apply": "kubectl apply --server-side",
    "kubectl": "kubectl apply --server-side",
    "kubectl-client-side-apply": "kubectl apply",
    "kubectl-create": "kubectl create",
    "kubectl-edit": "kubectl edit",
    "kubectl-replace": "kubectl replace",
    "catalog": "OLM",
    "olm": "OLM",
    "cluster-version-operator": "OpenShift's cluster version operator",
    "eks": "an add-on of EKS",
    "fleetagent": "Rancher Fleet",
    "kapp": "kapp",
    "Terraform": "Terraform",
    "HashiCorp": "Terraform",
    "modelyard-local": "modelyard local",
}
# They fill in what others brought: an object is theirs only where nobody else wrote it.
_FILL_IN = frozenset(
    {"kube-controller-manager", "kube-apiserver", "kube-scheduler", "kubelet", "cloud-controller-manager"}
)
# Made by Kubernetes, or by OpenShift, in every namespace.
_IN_EVERY_NAMESPACE = frozenset(
    {
        ("ServiceAccount", "default"),
        ("ServiceAccount", "builder"),
        ("ServiceAccount", "deployer"),
        ("ConfigMap", "kube-root-ca.crt"),
        ("ConfigMap", "openshift-service-ca.crt"),
    }
)


def owner_of(live: Object, *, applysets: Mapping[str, str] | None = None) -> str:
    """Return whose `live` is, for people; `UNKNOWN` where nothing says.

    Args:
        live: an object as the apiserver gives it.
        applysets: components by the id of their ApplySet.
    """
    applyset = labels_of(live).get(PART_OF_LABEL)
    if applyset:
        component = (applysets or {}).get(applyset)
        return f"modelyard, component {component}" if component else f"ApplySet {applyset}"
    return marked_by(live) or _own_without_label(live) or _referred(live) or _written_by(live) or UNKNOWN


def marked_by(live: Object) -> str:
    """Return who marks `live` as theirs by labels or annotations, for people; empty where nobody does."""
    marks = {**labels_of(live), **annotations_of(live)}
    application = _application(live, marks)
    packages = sorted(mark.removeprefix(_OLM_PACKAGE) for mark in marks if mark.startswith(_OLM_PACKAGE))
    for mark, called in _MARKS:
        if mark == "argocd.argoproj.io/instance" and application:
            return _PART_OF_ARGO.format(application)
        if mark == "olm.owner" and packages:
            return f"OLM, operator {packages[0]}"
        if mark in marks:
            return called.format(marks[mark])
    return "OLM" if marks.get(_OLM_MANAGED) == "true" else ""


def in_every_namespace(live: Object) -> bool:
    """Tell whether `live` is made in each namespace by Kubernetes, and nobody has made it theirs since."""
    ref = ref_of(live)
    return (
        ref.group == ""
        and (ref.kind, ref.name) in _IN_EVERY_NAMESPACE
        and not marked_by(live)
        and not any(text(entry, "manager") in _APPLIERS for entry in _writers(live))
    )


def bringers(live: Object) -> frozenset[str]:
    """Return the field managers that brought `live`: those that bring whole objects, else who wrote most of it."""
    known = {text(entry, "manager") for entry in _writers(live)} & {*_APPLIERS, OWN_MANAGER}
    main = _main_writer(live)
    return frozenset(known) if known else frozenset({main} if main and main not in _FILL_IN else ())


def _application(live: Object, marks: Mapping[str, str]) -> str:
    """Return the Argo CD application that tracks exactly `live`; copies of its marks do not count.

    An id is "application:group/kind:namespace/name":
    https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/
    """
    application, _, tracked = marks.get(_TRACKING, "").partition(":")
    ref = ref_of(live)
    kind, _, name = tracked.partition(":")
    # A cluster-scoped object is tracked with the namespace of the application's destination.
    if application and kind == f"{ref.group}/{ref.kind}" and _names(name, ref):
        return application
    by_argo = any(text(entry, "manager") in _ARGO_MANAGERS for entry in _writers(live))
    return marks.get(_INSTANCE, "") if by_argo else ""


def _names(tracked: str, ref: ObjectRef) -> bool:
    namespace, _, name = tracked.partition("/")
    return name == ref.name and (not ref.namespace or namespace == ref.namespace)


def _own_without_label(live: Object) -> str:
    return f"modelyard, but without its label {PART_OF_LABEL}" if DIGEST in annotations_of(live) else ""


def _referred(live: Object) -> str:
    for owner in mappings(live, "metadata", "ownerReferences"):
        return f"{text(owner, 'kind')} {text(owner, 'name')}"
    return ""


def _written_by(live: Object) -> str:
    managers = {text(entry, "manager") for entry in _writers(live)}
    for manager, called in _APPLIERS.items():
        if manager in managers:
            return called
    if _LAST_APPLIED in annotations_of(live):
        return "kubectl apply"
    main = _main_writer(live)
    return _KUBERNETES if main in _FILL_IN else f"field manager {main}" if main else ""


def _main_writer(live: Object) -> str:
    """Return who wrote most fields of `live`; those that only fill in come last."""
    written: dict[str, int] = {}
    for entry in _writers(live):
        manager = text(entry, "manager")
        written[manager] = written.get(manager, 0) + _count(mapping(entry, "fieldsV1"))
    ranked = sorted(written, key=lambda manager: (manager in _FILL_IN, -written[manager], manager))
    return ranked[0] if ranked else ""


def _writers(live: Object) -> Iterator[Object]:
    """Yield the entries of managedFields that are about the object itself, not about its status."""
    for entry in mappings(live, "metadata", "managedFields"):
        if not text(entry, "subresource"):
            yield entry


def _count(fields: Object) -> int:
    return sum(_count(inner) if isinstance(inner, Mapping) and inner else 1 for inner in fields.values())
