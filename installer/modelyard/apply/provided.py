"""Components that are left out and are on the cluster all the same: somebody else's do for those that require them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modelyard.cluster import Session
from modelyard.errors import RefusalError
from modelyard.objects import Object
from modelyard.plan import kinds
from modelyard.plan.provided import brought, lacking


def provided(session: Session, left_out: Mapping[str, Sequence[Object]]) -> frozenset[str]:
    """Return those components of which the cluster has what others use.

    Args:
        session: the cluster.
        left_out: the objects of components that are left out and required, by component.

    Raises:
        RefusalError: a CustomResourceDefinition of one is there, but not all that others use of it.
    """
    found = set()
    for name, objects in sorted(left_out.items()):
        wanted = brought(objects)
        live = {ref: obj for ref in wanted if (obj := session.get(ref)) is not None}
        missing = lacking(wanted, live)
        if wanted and not missing:
            found.add(name)
        elif any(ref.group_kind == kinds.CRD for ref in live):
            raise RefusalError(
                f"component {name}",
                f"is left out and required, and what is there instead lacks {', '.join(missing)}",
                f"add that to it (modelyard render --component {name} shows how ours has it), or leave out what "
                f"requires {name} too",
            )
    return frozenset(found)
