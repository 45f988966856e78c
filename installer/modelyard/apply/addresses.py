"""Pods that have addresses of whereabouts, before it goes."""

from __future__ import annotations

from collections.abc import Collection

from modelyard.cluster import Session
from modelyard.errors import RefusalError
from modelyard.objects import GroupKind, Object, ref_of
from modelyard.plan import addresses

POD = GroupKind("", "Pod")
_NAMED = 3  # pods in the error


def pods_with_addresses(session: Session, pools: Collection[Object] | None = None) -> list[str]:
    """Return the pods that have an address of `pools`, as "namespace/name".

    Args:
        session: the cluster.
        pools: IPPools with their spec; None: all.
    """
    if pools is None:
        listing = session.list(addresses.POOL)
        pools = listing.items if listing else ()
    listed = session.list(POD, metadata_only=True) if pools else None
    refs = [ref_of(pod) for pod in listed.items] if listed else []
    return addresses.holders(pools, {f"{ref.namespace}/{ref.name}" for ref in refs})


def refuse_stranded(session: Session, going: Collection[GroupKind]) -> None:
    """Refuse to take whereabouts away from under pods that could then not be deleted.

    Args:
        session: the cluster.
        going: the kinds that go.

    Raises:
        RefusalError: such pods are there. Also where users' data may go: the pods would stay.
    """
    stranded = pods_with_addresses(session) if addresses.strands_pods(going) else []
    if stranded:
        more = f" and {len(stranded) - _NAMED} more" if len(stranded) > _NAMED else ""
        raise RefusalError(
            "component whereabouts",
            f"gave addresses to pods that cannot end without it: {', '.join(stranded[:_NAMED])}{more}; "
            "nothing was changed",
            "delete those pods first, or remove multus too: modelyard uninstall --component whereabouts "
            "--component multus",
        )
