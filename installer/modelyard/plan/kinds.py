"""Kinds that the plan treats by name. Source of the grouping: the order of kustomize and fluxcd/pkg/ssa."""

from __future__ import annotations

from modelyard.objects import GroupKind

NAMESPACE = GroupKind("", "Namespace")
# The Operator Lifecycle Manager's: an OperatorGroup or a Subscription has software installed by others.
OLM = "operators.coreos.com"
# A GatewayClass, a Gateway and its routes are taken by whoever implements the API: often a Deployment of the component
# that brings them, while their kinds are another component's. Nothing that a pod starts with comes of them.
GATEWAY_API = "gateway.networking.k8s.io"
SECRET = GroupKind("", "Secret")
CRD = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
API_SERVICE = GroupKind("apiregistration.k8s.io", "APIService")
MUTATING = GroupKind("admissionregistration.k8s.io", "MutatingWebhookConfiguration")
VALIDATING = GroupKind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration")

WEBHOOK_CONFIGURATIONS = frozenset({MUTATING, VALIDATING})
EXTENSIONS = frozenset(
    {
        API_SERVICE,
        MUTATING,
        VALIDATING,
        GroupKind("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        GroupKind("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
        GroupKind("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        GroupKind("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
    }
)
# A claim belongs here: with WaitForFirstConsumer it is not bound before a pod wants it.
WORKLOADS = frozenset(
    {
        GroupKind("", "PersistentVolumeClaim"),
        GroupKind("", "Pod"),
        GroupKind("", "ReplicationController"),
        GroupKind("apps", "DaemonSet"),
        GroupKind("apps", "Deployment"),
        GroupKind("apps", "ReplicaSet"),
        GroupKind("apps", "StatefulSet"),
        GroupKind("autoscaling", "HorizontalPodAutoscaler"),
        GroupKind("batch", "CronJob"),
        GroupKind("batch", "Job"),
    }
)
# Within a wave; kinds that are not named come last, by name.
ORDER = (
    "ResourceQuota",
    "StorageClass",
    "PriorityClass",
    "ServiceAccount",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
)

_BUILT_IN_GROUPS = frozenset({"", "apps", "autoscaling", "batch", "extensions", "policy"})
_BUILT_IN_DOMAIN_GROUPS = frozenset(
    f"{name}.k8s.io"
    for name in (
        "admissionregistration",
        "apiextensions",
        "apiregistration",
        "authentication",
        "authorization",
        "certificates",
        "coordination",
        "discovery",
        "events",
        "flowcontrol.apiserver",
        "internal.apiserver",
        "networking",
        "node",
        "rbac.authorization",
        "resource",
        "scheduling",
        "storage",
        "storagemigration",
    )
)


def is_custom(kind: GroupKind) -> bool:
    """Tell whether `kind` is not one of Kubernetes' own: somebody's CRD or API server has it."""
    return kind.group not in _BUILT_IN_GROUPS | _BUILT_IN_DOMAIN_GROUPS
