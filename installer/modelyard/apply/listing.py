"""Lists of custom resources, also while the webhook that converts them does not answer."""

from __future__ import annotations

from modelyard.cluster import ApiError, Listing, Session
from modelyard.cluster.discovery import resource_of_crd
from modelyard.objects import GroupKind, Object, ObjectRef
from modelyard.plan import kinds


def definition_of(session: Session, kind: GroupKind) -> Object | None:
    """Return the live CustomResourceDefinition of `kind`; None where there is none."""
    found = session.discovery.find(kind)
    if found is None:
        return None
    return session.get(ObjectRef(kinds.CRD.group, kinds.CRD.kind, "", f"{found.plural}.{kind.group}"))


def list_labelled(
    session: Session, kind: GroupKind, selector: str, *, version: str = "", metadata_only: bool = False
) -> tuple[Object, ...]:
    """Return the objects of a kind that match a label selector; none where the cluster does not have the kind.

    Where their conversion's webhook does not answer they come in the version in which they are stored: its controller
    may be what an install is to bring back, so neither that nor a status may wait for it.

    Args:
        session: the cluster.
        kind: group and kind.
        selector: labels that they must have.
        version: the API version to have them in; empty: the preferred one.
        metadata_only: leave out all but the metadata.
    """
    try:
        listing = session.list(kind, label_selector=selector, version=version, metadata_only=metadata_only)
    except ApiError as error:
        definition = definition_of(session, kind) if error.unconverted else None
        if definition is None:
            raise
        stored = resource_of_crd(definition).version
        listing = session.list(kind, label_selector=selector, version=stored, metadata_only=metadata_only)
    return _items(listing)


def _items(listing: Listing | None) -> tuple[Object, ...]:
    return listing.items if listing else ()
