"""Render a platform to fit its cluster: the first team's quota is what the nodes have left beside all the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from modelyard import apply
from modelyard.catalog import Catalog
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, text
from modelyard.plan.team_quota import team_quota

Values = Mapping[str, Mapping[str, str]]
Render = Callable[[Sequence[str], Values], dict[str, list[Object]]]

TEAM = "tenancy"
_LOCAL_QUEUE = GroupKind("kueue.x-k8s.io", "LocalQueue")
_NODE, _POD = GroupKind("", "Node"), GroupKind("", "Pod")


def render_to_fit(
    catalog: Catalog, target: str, names: Sequence[str], session: Session, render: Render
) -> tuple[apply.Rendered, ...]:
    """Render components; where the team's is among them, with a quota of what the nodes have left.

    Where nodes come and go with the work, the quota is the site's, as values.env has it.

    Args:
        catalog: the catalogue.
        target: what they are rendered for.
        names: the components, each after what it requires.
        session: the cluster that they are for.
        render: names and values -> objects by name.

    Raises:
        HostError: less is left than the smallest job needs.
        ModelyardError: rendering or a list failed.
    """
    outputs = render(names, {})
    if TEAM in outputs and catalog.inherited(target).fixedNodes:
        platform = [obj for name, objects in outputs.items() if name != TEAM for obj in objects]
        teams = {catalog.component(TEAM).namespace or ""}
        teams |= {text(queue, "metadata", "namespace") for queue in _items(session, _LOCAL_QUEUE)}
        values = team_quota(_items(session, _NODE), platform, _items(session, _POD), counted=teams)
        outputs |= render([TEAM], {TEAM: values})
    return apply.rendered(catalog, target, outputs)


def _items(session: Session, kind: GroupKind) -> tuple[Object, ...]:
    listing = session.list(kind)
    return listing.items if listing is not None else ()
