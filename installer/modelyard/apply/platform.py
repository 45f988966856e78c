"""Refuse a cluster that is not the target's kind, or on which somebody else manages what would be installed."""

from __future__ import annotations

from collections.abc import Sequence

from modelyard.apply.run import Rendered
from modelyard.catalog.models import Target
from modelyard.cluster import Session
from modelyard.errors import RefusalError
from modelyard.objects import labels_of, ref_of, text
from modelyard.plan import kinds
from modelyard.plan.inventory import PART_OF_LABEL, applyset_id
from modelyard.plan.platform import managers, wrong_platform

GO_ON = "to go on all the same: --force-target"


def refuse_other_platforms(session: Session, target: Target) -> None:
    """Compare the cluster's API groups with those that the target requires and refuses.

    Raises:
        RefusalError: the cluster is of another kind.
    """
    groups = {resource.kind.group for resource in session.discovery.all()}
    if reason := wrong_platform(target, groups):
        raise RefusalError(f"cluster {session.server}", reason, f"take another target, or another cluster; {GO_ON}")


def refuse_managed_definitions(session: Session, items: Sequence[Rendered]) -> None:
    """Look for CRDs that would be installed and that somebody else manages already.

    Two managers of one CRD undo each other's versions, and the first that is uninstalled takes all custom resources
    with it.

    Raises:
        RefusalError: names the first such CRD, its manager, and the components to leave out.
    """
    listing = session.list(kinds.CRD, metadata_only=True)
    live = {text(crd, "metadata", "name"): crd for crd in (listing.items if listing else ())}
    found: dict[str, dict[str, str]] = {}
    for item in items:
        names = {ref_of(obj).name for obj in item.objects if ref_of(obj).group_kind == kinds.CRD} & live.keys()
        others = {name for name in names if labels_of(live[name]).get(PART_OF_LABEL) != applyset_id(item.name)}
        if taken := managers((name, live[name]) for name in sorted(others)):
            found[item.name] = taken
    if found:
        component, taken = min(found.items())
        crd, manager = min(taken.items())
        without = " ".join(f"--without {name}" for name in sorted(found))
        raise RefusalError(
            f"CustomResourceDefinition {crd}",
            f"is managed by {manager}; component {component} would fight over it",
            f"leave out what is there already: {without}; {GO_ON}",
        )
