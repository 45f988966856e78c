"""Inventories that are lost while objects that carry their label are there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NoReturn

from modelyard.apply import members
from modelyard.apply.listing import list_labelled
from modelyard.catalog.models import Component
from modelyard.catalog.removal import NO_RULES, RemovalRules, with_required
from modelyard.cluster import Session
from modelyard.errors import RefusalError
from modelyard.objects import GroupKind, Object, ObjectRef, labels_of, ref_of
from modelyard.plan.inventory import PART_OF_LABEL, Inventory, applyset_id
from modelyard.plan.lost import is_ours
from modelyard.plan.removal import PASSING

WORKERS = 8
Catalogue = Mapping[str, Component]


@dataclass(frozen=True, slots=True)
class Lost:
    """A component whose inventory is lost.

    Args:
        component: its name; the ApplySet id where the catalogue has none of that id.
        applyset: its ApplySet id.
        refs: the objects that carry its label.
        requires: what it requires, as the catalogue says.
        removal: what an uninstall must know of it, as the catalogue says.
    """

    component: str
    applyset: str
    refs: tuple[ObjectRef, ...]
    requires: tuple[str, ...]
    removal: RemovalRules = NO_RULES

    @property
    def inventory(self) -> Inventory:
        """Return an inventory in place of the one that is lost."""
        return Inventory(
            component=self.component,
            version="",
            target="",
            cluster="",
            group_kinds=frozenset(ref.group_kind for ref in self.refs),
            namespaces=frozenset(ref.namespace for ref in self.refs),
            objects=frozenset(self.refs),
            requires=self.requires,
            removal=self.removal,
        )


def find_lost(
    session: Session, found: Collection[str], asked: Sequence[str], catalogue: Callable[[], Catalogue]
) -> dict[str, Lost]:
    """Return the components that have objects in the cluster and no inventory.

    Args:
        session: the cluster.
        found: the components that have one.
        asked: names that may be among them, beside those of the catalogue.
        catalogue: gives the components that there are; asked only where something is lost.

    Raises:
        ModelyardError: a list failed; then nothing is known.
    """
    known = {applyset_id(name) for name in found}
    resources = [each for each in session.discovery.all() if "delete" in each.verbs and each.kind not in PASSING]
    with ThreadPoolExecutor(WORKERS) as pool:
        labelled = [item for items in pool.map(lambda each: _labelled(session, each.kind), resources) for item in items]
    by_id: dict[str, list[ObjectRef]] = {}
    for item in labelled:
        if is_ours(item) and (applyset := labels_of(item)[PART_OF_LABEL]) not in known:
            by_id.setdefault(applyset, []).append(ref_of(item))
    known_to_it = catalogue() if by_id else {}
    names = {applyset_id(name): name for name in {*known_to_it, *asked}}
    lost = [_lost(names.get(each, each), each, refs, known_to_it) for each, refs in by_id.items()]
    return {item.component: item for item in sorted(lost, key=lambda each: each.component)}


def _lost(name: str, applyset: str, refs: Sequence[ObjectRef], catalogue: Catalogue) -> Lost:
    requires = catalogue[name].requires if name in catalogue else ()
    return Lost(name, applyset, tuple(sorted(refs)), requires, rules_in(catalogue, name))


def rules_in(catalogue: Catalogue, name: str) -> RemovalRules:
    """Return what the catalogue says of a component's removal, whoever provides what it requires.

    A component that the catalogue does not have, or one that it requires, has no rules.
    """
    rules = {each: item.removal for each, item in catalogue.items()}
    known = {each: [need for need in item.requires if need in catalogue] for each, item in catalogue.items()}
    return with_required(name, rules, known) if name in catalogue else NO_RULES


def _labelled(session: Session, kind: GroupKind) -> Sequence[Object]:
    return list_labelled(
        session, kind, PART_OF_LABEL, metadata_only=True
    )  # whosever kind it is, and converts it or not


def live(session: Session, lost: Lost) -> dict[ObjectRef, Object]:
    """Return the objects of a component whose inventory is lost as they are now."""
    selector = f"{PART_OF_LABEL}={lost.applyset}"
    kinds = sorted({ref.group_kind for ref in lost.refs})
    items = {ref_of(item): item for kind in kinds for item in list_labelled(session, kind, selector)}
    return {ref: items[ref] for ref in lost.refs if ref in items}


def refuse_lost(lost: Mapping[str, Lost]) -> NoReturn:
    """Refuse to leave behind, or to take along unasked, what carries the label of a lost inventory.

    Raises:
        RefusalError: always; names the first component and how many objects there are.
    """
    item = min(lost.values(), key=lambda each: each.component)
    more = f"; and so are those of {', '.join(sorted(set(lost) - {item.component}))}" if len(lost) > 1 else ""
    named = item.component != item.applyset
    install = f"`modelyard install --component {item.component}` writes it anew; or " if named else ""
    raise RefusalError(
        f"inventory of component {item.component} ({members.parent_ref(item.component)})",
        f"is lost, though {len(item.refs)} objects carry its label ({item.refs[0]}, ...){more}; nothing was changed",
        f"{install}remove what carries the label: the same command with --lost",
    )
