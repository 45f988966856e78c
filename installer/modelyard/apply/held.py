"""What would be lost with a CustomResourceDefinition or a Namespace: somebody else's objects."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from modelyard.apply.holding import holders
from modelyard.catalog.removal import NO_RULES, RemovalRules, group_kind
from modelyard.cluster import Session
from modelyard.cluster.discovery import resource_of_crd
from modelyard.objects import GroupKind, Object, ObjectRef, ref_of
from modelyard.plan import kinds
from modelyard.plan.prune import kind_of_crd
from modelyard.plan.removal import is_users


def held_by(
    session: Session,
    obj: Object,
    *,
    mine: Collection[ObjectRef],
    own: Collection[GroupKind] = (),
    rules: RemovalRules = NO_RULES,
) -> list[ObjectRef]:
    """Return the users' objects that would go with `obj`.

    Args:
        session: the cluster.
        obj: a live object; only a CRD and a Namespace hold others.
        mine: the platform's own objects.
        own: further kinds whose objects are looked at in the same way, so that what they own need not be.
        rules: of all installed components.

    Raises:
        ModelyardError: a list failed: then nothing is known, and nothing may be deleted.
    """
    kind = ref_of(obj).group_kind
    items: tuple[Object, ...] = ()
    if kind == kinds.CRD:
        items = objects_of(session, obj)
        for rule in rules.holds:
            if group_kind(rule.kind) == kind_of_crd(obj):  # what holds no pod is nobody's data
                used = holders(session, rule)
                items = tuple(item for item in items if ref_of(item) in used)
    elif kind == kinds.NAMESPACE:
        items = tuple(_inside(session, ref_of(obj).name))
    seen = {ref_of(item) for item in items}
    return sorted(ref_of(item) for item in items if is_users(item, mine, seen=seen, own=own, made=rules.byProducts))


def objects_of(session: Session, crd: Object, *, metadata_only: bool = True) -> tuple[Object, ...]:
    """Return all objects of the kind that a live CustomResourceDefinition defines."""
    # As they are stored: any other version may take a conversion webhook, which is gone by the end of a removal.
    version = resource_of_crd(crd).version
    listing = session.list(kind_of_crd(crd), metadata_only=metadata_only, version=version)
    return listing.items if listing else ()


def _inside(session: Session, namespace: str) -> Iterator[Object]:
    for resource in session.discovery.all():
        if resource.namespaced and "delete" in resource.verbs:
            listing = session.list(resource.kind, namespace=namespace, metadata_only=True)
            yield from listing.items if listing else ()
