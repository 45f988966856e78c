"""Pods that have addresses of whereabouts, before it goes."""

from __future__ import annotations

from collections.abc import Collection

from modelyard.cluster import Session
from modelyard.errors import RefusalError
from modelyard.objects import GroupKind, ObjectRef, ref_of
from modelyard.plan import addresses

POD = GroupKind("", "Pod")
_NAMED = 3  # pods in the error


def pools_in_use(session: Session) -> dict[ObjectRef, list[str]]:
    """Return the pods that have an address, as "namespace/name", by its IPPool; without pools that nobody uses."""
    listing = session.list(addresses.POOL)
    pools = listing.items if listing else ()
    listed = session.list(POD, metadata_only=True) if pools else None
    refs = [ref_of(pod) for pod in listed.items] if listed else []
    pods = {f"{ref.namespace}/{ref.name}" for ref in refs}
    found = {ref_of(pool): addresses.holders([pool], pods) for pool in pools}
    return {ref: holders for ref, holders in found.items() if holders}


def refuse_stranded(session: Session, going: Collection[GroupKind]) -> None:
    """Refuse to take whereabouts away from under pods that could then not be deleted.

    Args:
        session: the cluster.
        going: the kinds that go.

    Raises:
        RefusalError: such pods are there. Also where users' data may go: the pods would stay.
    """
    held = pools_in_use(session) if addresses.strands_pods(going) else {}
    stranded = sorted({pod for pods in held.values() for pod in pods})
    if stranded:
        more = f" and {len(stranded) - _NAMED} more" if len(stranded) > _NAMED else ""
        raise RefusalError(
            "component whereabouts",
            f"gave addresses to pods that cannot end without it: {', '.join(stranded[:_NAMED])}{more}; "
            "nothing was changed",
            "delete those pods first, or remove multus too: modelyard uninstall --component whereabouts "
            "--component multus",
        )
