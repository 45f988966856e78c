"""Pods that need a component to end, before it goes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from modelyard.catalog.removal import Holds, RemovalRules, group_kind
from modelyard.cluster import Session
from modelyard.errors import RefusalError
from modelyard.objects import GroupKind, ObjectRef, ref_of
from modelyard.plan import holding

POD = GroupKind("", "Pod")
_NAMED = 3  # pods in the error


def holders(session: Session, rule: Holds) -> dict[ObjectRef, list[str]]:
    """Return the pods that objects hold, as "namespace/name", by the object; without those that hold none."""
    listing = session.list(group_kind(rule.kind))
    found = listing.items if listing else ()
    listed = session.list(POD, metadata_only=True) if found else None
    refs = [ref_of(pod) for pod in listed.items] if listed else []
    pods = {f"{ref.namespace}/{ref.name}" for ref in refs}
    held = {ref_of(obj): holding.held_pods(rule, obj, pods) for obj in found}
    return {ref: names for ref, names in held.items() if names}


def refuse_stranded(session: Session, rules: Mapping[str, RemovalRules], going: Collection[str]) -> None:
    """Refuse to take a component away from under pods that could then not be deleted.

    Args:
        session: the cluster.
        rules: of each installed component.
        going: the components that go.

    Raises:
        RefusalError: such pods are there. Also where users' data may go: the pods would stay.
    """
    for name, own in sorted(rules.items()):
        for rule in own.holds:
            held = holders(session, rule) if holding.strands_pods(rule, name, going) else {}
            stranded = sorted({pod for pods in held.values() for pod in pods})
            if stranded:
                raise _stranded(name, rule, stranded)


def _stranded(name: str, rule: Holds, pods: list[str]) -> RefusalError:
    more = f" and {len(pods) - _NAMED} more" if len(pods) > _NAMED else ""
    return RefusalError(
        f"component {name}",
        f"holds something of pods that cannot end without it: {', '.join(pods[:_NAMED])}{more}; nothing was changed",
        f"delete those pods first, or remove {rule.asks} too: modelyard uninstall --component {name} "
        f"--component {rule.asks}",
    )
