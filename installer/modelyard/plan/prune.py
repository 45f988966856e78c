"""What is deleted when a component no longer has an object, and what is kept all the same. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from modelyard.errors import RefusalError
from modelyard.objects import GroupKind, Object, ObjectRef, text
from modelyard.plan import kinds
from modelyard.plan.inventory import PART_OF_LABEL


def prune_set(
    component: str, desired: Collection[ObjectRef], live: Iterable[ObjectRef], *, inventory: bool
) -> tuple[ObjectRef, ...]:
    """Return the members that are no longer desired, in the order of deletion.

    Args:
        component: whose.
        desired: what should be there.
        live: what carries the component's label.
        inventory: whether there is one that says where its objects are.

    Raises:
        RefusalError: nothing at all is desired (an empty render is a mistake, not a wish), or something
            would go of which no inventory says that it is the component's.
    """
    if not desired:
        raise RefusalError(
            f"component {component}",
            "rendered to nothing, so every object of it would be deleted; nothing was changed",
            f"check manifests/ and overlays/, or ask for it: modelyard uninstall --component {component}",
        )
    gone = tuple(sorted(set(live) - set(desired), key=deletion_order))
    if gone and not inventory:
        raise RefusalError(
            f"inventory of component {component}",
            f"is lost, and {len(gone)} objects carry its label but are not part of it now ({gone[0]}, ...); "
            "nothing was changed",
            f"look at them: kubectl get {gone[0].kind.lower()} -A -l {PART_OF_LABEL}; delete them or take the label "
            "off, then run the same command again",
        )
    return gone


def deletion_order(ref: ObjectRef) -> tuple[int, str, str, str, str]:
    """Order objects for deletion: what is served before who serves it, namespaces last."""
    kind = ref.group_kind
    if kind in kinds.EXTENSIONS:
        place = 1
    elif kind in kinds.WORKLOADS:
        place = 2
    elif kind == kinds.CRD:
        place = 4
    elif kind == kinds.NAMESPACE:
        place = 5
    else:
        place = 0 if kinds.is_custom(kind) else 3
    return place, ref.kind, ref.group, ref.namespace, ref.name


def kind_of_crd(crd: Object) -> GroupKind:
    """Return the kind that a CustomResourceDefinition defines."""
    return GroupKind(text(crd, "spec", "group"), text(crd, "spec", "names", "kind"))


def in_use(users: Mapping[ObjectRef, Collection[ObjectRef]], *, limit: int = 3) -> str:
    """Return "CRD x holds A, B and 2 more" for the objects that would go with what holds them."""
    parts = []
    for holder, held in sorted(users.items()):
        names = sorted(str(ref) for ref in held)
        rest = f" and {len(names) - limit} more" if len(names) > limit else ""
        parts.append(f"{holder} holds {', '.join(names[:limit])}{rest}")
    return "; ".join(parts)
