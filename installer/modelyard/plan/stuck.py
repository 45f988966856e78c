"""What is being deleted and does not go: why, who has to let it go, and what may be taken off it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from modelyard.objects import GroupKind, Object, ObjectRef, dig, mapping, mappings, number, ref_of, sequence, text
from modelyard.plan import kinds
from modelyard.plan.hooks import hooks
from modelyard.plan.prune import kind_of_crd

CONTROLLERS = frozenset({GroupKind("apps", "Deployment"), GroupKind("apps", "StatefulSet")})
# What is looked at of every installed component, also of those that stay.
OF_CONTROLLERS = CONTROLLERS | kinds.WEBHOOK_CONFIGURATIONS | {kinds.API_SERVICE, kinds.CRD}
POD = GroupKind("", "Pod")
# Somebody's data, or what holds it: their finalizers are never taken off.
_NEVER = frozenset({GroupKind("", "PersistentVolumeClaim"), GroupKind("", "PersistentVolume"), kinds.NAMESPACE})
# Of the garbage collector: https://kubernetes.io/docs/concepts/architecture/garbage-collection/
_COLLECTORS = frozenset({"foregroundDeletion", "orphan"})
# Why a namespace stays. Source: https://pkg.go.dev/k8s.io/api/core/v1#NamespaceConditionType
_NAMESPACE_STAYS = (
    "NamespaceFinalizersRemaining",
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",
    "NamespaceContentRemaining",
)


def is_going(obj: Object) -> bool:
    """Tell whether somebody has deleted `obj`, whether or not it is gone."""
    return bool(text(obj, "metadata", "deletionTimestamp"))


def finalizers(obj: Object) -> tuple[str, ...]:
    """Return an object's finalizers."""
    return tuple(str(name) for name in sequence(obj, "metadata", "finalizers"))


def staying(obj: Object) -> str:
    """Return why an object that was deleted is still there, in words."""
    if found := finalizers(obj):
        return f"going; waits for {', '.join(found)}"
    if ref_of(obj).group_kind == kinds.NAMESPACE:
        conditions = {text(each, "type"): each for each in mappings(obj, "status", "conditions")}
        for name in _NAMESPACE_STAYS:
            if text(conditions.get(name), "status") == "True":
                return f"going; {text(conditions[name], 'message')}"
    return "going"


def owners(members: Mapping[str, Iterable[Object]]) -> dict[GroupKind, str]:
    """Return the kinds that components' CRDs define, each with its component."""
    crds = ((name, obj) for name, found in members.items() for obj in found if ref_of(obj).group_kind == kinds.CRD)
    return {kind_of_crd(crd): name for name, crd in crds}


def others_wait(objects: Iterable[Object]) -> bool:
    """Tell whether requests for other objects need an answer of this component's server.

    A webhook that fails closed refuses, among others, to take finalizers off; no object is read in another version
    without the conversion; and no namespace goes while an aggregated API does not answer, as then nobody knows what is
    in it: https://kubernetes.io/docs/tasks/extend-kubernetes/setup-extension-api-server/.
    """
    found = list(objects)
    return any(hook.fails_closed for hook in hooks(found)) or any(is_aggregated(obj) for obj in found)


def is_aggregated(obj: Object) -> bool:
    """Tell whether `obj` is an APIService that somebody's server answers for."""
    return ref_of(obj).group_kind == kinds.API_SERVICE and bool(mapping(obj, "spec", "service"))


def is_at_zero(workload: Object) -> bool:
    """Tell whether somebody has scaled a Deployment or StatefulSet to nothing."""
    return dig(workload, "spec", "replicas") == 0


def replicas(workload: Object) -> str:
    """Return "Deployment n/x 0/1 ready"."""
    wanted = number(workload, "spec", "replicas", default=1)
    return f"{ref_of(workload)} {number(workload, 'status', 'readyReplicas')}/{wanted} ready"


def removable(obj: Object, *, own: Collection[GroupKind], mine: Collection[ObjectRef]) -> tuple[str, ...]:
    """Return the finalizers that may be taken off `obj` where nobody else does.

    All of an object of the platform's kinds; those that Kubernetes did not set of the platform's other objects; the
    platform's own of a Pod. None of what nobody has deleted, of volumes, of namespaces, of anything else.

    Args:
        obj: an object's metadata, with its kind.
        own: the kinds that the platform's CRDs define.
        mine: the platform's own objects.
    """
    ref, found = ref_of(obj), finalizers(obj)
    if not is_going(obj) or ref.group_kind in _NEVER:
        return ()
    if ref.group_kind in own:
        return found
    if ref in mine:
        return tuple(each for each in found if not _of_kubernetes(each))
    if ref.group_kind == POD:
        groups = {kind.group for kind in own}
        return tuple(each for each in found if each.partition("/")[0] in groups)
    return ()


def _of_kubernetes(finalizer: str) -> bool:
    domain = finalizer.partition("/")[0]
    return finalizer in _COLLECTORS or f".{domain}".endswith((".kubernetes.io", ".k8s.io"))
