"""Render a platform to fit its cluster: the component that is sized gets what the nodes have left beside the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from modelyard import apply
from modelyard.catalog import Catalog, Component
from modelyard.catalog.removal import group_kind
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, text
from modelyard.plan.quota_left import ANY_CPU, LEAST_CPU, quota_left

Values = Mapping[str, Mapping[str, str]]
Render = Callable[[Sequence[str], Values], dict[str, list[Object]]]

_NODE, _POD = GroupKind("", "Node"), GroupKind("", "Pod")


def render_to_fit(
    catalog: Catalog, target: str, names: Sequence[str], session: Session, render: Render, values: Values
) -> tuple[apply.Rendered, ...]:
    """Render components; where one of them is sized, with what the nodes have left.

    What the site sets holds; where nodes come and go with the work, so do the target's values.

    Args:
        catalog: the catalogue.
        target: what they are rendered for.
        names: the components, each after what it requires.
        session: the cluster that they are for.
        render: names and values -> objects by name.
        values: what the site sets, by component and name.

    Raises:
        HostError: less is left than the smallest job needs.
        ModelyardError: rendering or a list failed.
    """
    outputs = render(names, values)
    sized = catalog.sized
    if sized is not None and sized.name in outputs and catalog.inherited(target).fixedNodes:
        by_site = dict(values.get(sized.name, {}))
        if _names(sized) - by_site.keys():
            rest = [obj for name, objects in outputs.items() if name != sized.name for obj in objects]
            outputs |= render([sized.name], {sized.name: _left(sized, rest, session, by_site) | by_site})
    return apply.rendered(catalog, target, outputs)


def _names(sized: Component) -> set[str]:
    return {sized.sized.cpu, sized.sized.memory} if sized.sized is not None else set()


def _left(sized: Component, rest: Sequence[Object], session: Session, by_site: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the component that takes what the nodes have left beside the rest of the platform."""
    assert sized.sized is not None
    teams = {text(queue, "metadata", "namespace") for queue in _items(session, group_kind(sized.sized.queue))}
    cpu, memory = quota_left(
        _items(session, _NODE),
        rest,
        _items(session, _POD),
        counted={*teams, sized.namespace or ""},
        subject=sized.name,
        least_cpu=ANY_CPU if sized.sized.cpu in by_site else LEAST_CPU,  # the site's own is not held to it
    )
    return {sized.sized.cpu: cpu, sized.sized.memory: memory}


def _items(session: Session, kind: GroupKind) -> tuple[Object, ...]:
    listing = session.list(kind)
    return listing.items if listing is not None else ()
