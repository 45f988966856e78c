"""In which order a component goes: backwards, custom resources first, while their controllers live. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import IntEnum

from modelyard.catalog import graph
from modelyard.catalog.names import unknown
from modelyard.catalog.removal import ByProduct, group_kind
from modelyard.errors import RefusalError
from modelyard.objects import GroupKind, Object, ObjectRef, annotations_of, labels_of, mappings, ref_of, text
from modelyard.plan import kinds

# Made in every namespace by Kubernetes itself.
_BY_KUBERNETES = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")}
# Made by controllers, of no use without them, and nobody's data.
PASSING = {
    GroupKind("", "Endpoints"),
    GroupKind("", "Event"),
    GroupKind("coordination.k8s.io", "Lease"),
    GroupKind("discovery.k8s.io", "EndpointSlice"),
    GroupKind("events.k8s.io", "Event"),
}


class Step(IntEnum):
    """The steps of a removal, in their order; each is done before the next begins."""

    RESOURCES = 1
    EXTENSIONS = 2
    WORKLOADS = 3
    REQUIREMENTS = 4
    SETTINGS = 5
    # Before the definitions: the namespace controller asks for every kind, and waits long after one vanished.
    NAMESPACES = 6
    DEFINITIONS = 7


def steps(refs: Iterable[ObjectRef], own: Collection[GroupKind]) -> tuple[tuple[Step, tuple[ObjectRef, ...]], ...]:
    """Return a component's objects step by step.

    Args:
        refs: its objects.
        own: the kinds that its CRDs define.
    """
    by_step: dict[Step, list[ObjectRef]] = {}
    for ref in sorted(refs):
        by_step.setdefault(step_of(ref.group_kind, own), []).append(ref)
    return tuple((step, tuple(by_step[step])) for step in sorted(by_step))


def step_of(kind: GroupKind, own: Collection[GroupKind]) -> Step:
    """Return in which step objects of `kind` go."""
    if kind == kinds.NAMESPACE:
        return Step.NAMESPACES
    if kind == kinds.CRD:
        return Step.DEFINITIONS
    if kind in kinds.EXTENSIONS:
        return Step.EXTENSIONS
    if kind in kinds.WORKLOADS:
        return Step.WORKLOADS
    if kind in own or kind.group == kinds.GATEWAY_API:
        return Step.RESOURCES
    # A Certificate goes after the workloads that use what comes of it.
    return Step.REQUIREMENTS if kinds.is_custom(kind) else Step.SETTINGS


def removal_order(chosen: Sequence[str], requires: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return which components go, and in which order: each before those it requires.

    Args:
        chosen: what was asked for; nothing: all.
        requires: the installed components, with what each requires.

    Raises:
        CatalogError: one of them is not installed.
        RefusalError: a component that stays requires one that would go.
    """
    for name in chosen:
        if name not in requires:
            raise unknown("component", name, requires, where="the cluster's inventories")
    going = set(chosen or requires)
    for name in sorted(set(requires) - going):
        needed = sorted(going & set(requires[name]))
        if needed:
            raise RefusalError(
                f"component {needed[0]}",
                f"is required by {name}, which is installed; nothing was changed",
                f"remove both: modelyard uninstall --component {name} --component {needed[0]}",
            )
    known = {name: [each for each in needs if each in requires] for name, needs in requires.items()}
    return tuple(reversed(graph.order(going, known)))


def is_users(
    obj: Object,
    mine: Collection[ObjectRef],
    *,
    seen: Collection[ObjectRef] = (),
    own: Collection[GroupKind] = (),
    made: Collection[ByProduct] = (),
) -> bool:
    """Tell whether somebody would miss `obj`: it is nobody's by-product and not part of the platform.

    Args:
        obj: an object's metadata, with its kind.
        mine: the platform's own objects.
        seen: objects that are looked at themselves, together with this one.
        own: kinds all of whose objects are looked at: those that the CRDs which go define.
        made: what controllers of the platform make for themselves.
    """
    ref = ref_of(obj)
    if ref in mine or ref.group_kind in PASSING or (ref.kind, ref.name) in _BY_KUBERNETES:
        return False
    owners = [_owner(each, ref.namespace) for each in mappings(obj, "metadata", "ownerReferences")]
    if owners and all(_accounted(each, mine, seen, own) for each in owners):
        return False
    return not any(_is_made(obj, rule) for rule in made)


def _is_made(obj: Object, rule: ByProduct) -> bool:
    """Tell whether a controller made `obj` for itself, as a rule says."""
    if ref_of(obj).group_kind != group_kind(rule.kind):
        return False
    labels, notes = labels_of(obj), annotations_of(obj)
    marked = any(key in labels for key in rule.labels) or any(key in notes for key in rule.annotations)
    return marked or (rule.owned and bool(mappings(obj, "metadata", "ownerReferences")))


def is_by_product(
    obj: Object, mine: Collection[ObjectRef], own: Collection[GroupKind], made: Collection[ByProduct] = ()
) -> bool:
    """Tell whether a component's controller made `obj` for itself, so that it must be there when the object goes.

    Args:
        obj: an object's metadata, of one of the component's kinds.
        mine: the component's own objects.
        own: the kinds that its CRDs define.
        made: what its controller makes and goes with what it belongs to: it is left alone.
    """
    kept = any(ref_of(obj).group_kind == group_kind(rule.kind) for rule in made)
    return ref_of(obj) not in mine and not kept and not is_users(obj, mine, own=own)


def _owner(reference: Object, namespace: str) -> tuple[ObjectRef, ObjectRef]:
    """Return what an ownerReference may mean: it does not say whether the owner lives in the namespace or in none."""
    group, _, _ = text(reference, "apiVersion").rpartition("/")
    kind, name = text(reference, "kind"), text(reference, "name")
    return ObjectRef(group, kind, namespace, name), ObjectRef(group, kind, "", name)


def _accounted(
    owner: tuple[ObjectRef, ObjectRef],
    mine: Collection[ObjectRef],
    seen: Collection[ObjectRef],
    own: Collection[GroupKind],
) -> bool:
    """Tell whether the owner is the platform's or is looked at itself, so that what it owns need not be."""
    return owner[0].group_kind in own or any(ref in mine or ref in seen for ref in owner)
