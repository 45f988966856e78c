"""What an uninstall would remove; reading it changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from modelyard.apply import members
from modelyard.apply.controllers import Controllers, read_controllers
from modelyard.apply.held import held_by
from modelyard.apply.lost import Catalogue, find_lost, live, refuse_lost, rules_in
from modelyard.catalog.removal import RemovalRules, merged
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, ObjectRef
from modelyard.plan import kinds
from modelyard.plan.inventory import Inventory
from modelyard.plan.prune import kind_of_crd
from modelyard.plan.removal import removal_order


@dataclass(frozen=True, slots=True)
class Removal:
    """What an uninstall would remove.

    Args:
        order: components, in the order in which they go.
        after: each of them, with those that must be gone before it.
        objects: their live objects by component.
        held: users' objects by the CRD or namespace that would take them along.
        controllers: of all installed components, those that stay too.
        lost: components that stay and whose inventories are lost, with the objects that carry their labels.
        adopted: those of the objects that were somebody else's before, with whose they were.
        rules: what is to be known of each installed component beside its objects.
    """

    order: tuple[str, ...]
    after: Mapping[str, Sequence[str]]
    objects: Mapping[str, Mapping[ObjectRef, Object]]
    held: Mapping[ObjectRef, Sequence[ObjectRef]]
    controllers: Controllers
    lost: Mapping[str, Sequence[ObjectRef]]
    adopted: Mapping[ObjectRef, str]
    rules: Mapping[str, RemovalRules]

    @property
    def all_rules(self) -> RemovalRules:
        """Return those of all installed components as one."""
        return merged(self.rules.values())

    @property
    def count(self) -> int:
        """Return how many objects are the platform's own."""
        return sum(len(found) for found in self.objects.values())

    @property
    def mine(self) -> set[ObjectRef]:
        """Return the platform's own objects, inventories included."""
        return {ref for each in self.objects.values() for ref in each} | {
            members.parent_ref(name) for name in self.order
        }

    @property
    def kinds(self) -> set[GroupKind]:
        """Return the kinds that its CRDs define."""
        return {
            kind_of_crd(obj)
            for each in self.objects.values()
            for ref, obj in each.items()
            if ref.group_kind == kinds.CRD
        }


def plan_removal(
    session: Session,
    components: Sequence[str] = (),
    *,
    lost: bool = False,
    catalogue: Callable[[], Catalogue] = dict,
) -> Removal:
    """Read from the cluster what an uninstall would remove; change nothing.

    Args:
        session: the cluster.
        components: which; empty: all that is installed.
        lost: also those whose inventories are lost: all that carries their label.
        catalogue: gives the components that there are; asked only where one is lost, or was installed before
            inventories had rules for its removal.

    Raises:
        CatalogError: one of them is not installed.
        RefusalError: an inventory cannot be trusted or is lost, or something that stays requires one of them.
    """
    found = members.read_all(session)
    astray = find_lost(session, found, components, catalogue)
    taken = {name: item for name, item in astray.items() if not components or name in components}
    if taken and not lost:
        refuse_lost(taken)
    known = found | {name: item.inventory for name, item in astray.items()}
    order = removal_order(components, {name: item.requires for name, item in known.items()})
    objects = {
        name: live(session, taken[name]) if name in taken else members.live(session, name, known[name].group_kinds, {})
        for name in order
    }
    after = {name: [other for other in order if name in known[other].requires] for name in order}
    controllers = read_controllers(session, found | {name: known[name] for name in taken}, objects)
    stays = {name: item.refs for name, item in astray.items() if name not in taken}
    adopted = {ref: whose for name in order for ref, whose in known[name].adopted.items() if ref in objects[name]}
    rules = _rules(known, catalogue)
    removal = Removal(order, after, objects, {}, controllers, stays, adopted, rules)
    everything = {ref: obj for each in objects.values() for ref, obj in each.items()}
    return replace(removal, held=users_objects(session, removal, everything))


def _rules(known: Mapping[str, Inventory], catalogue: Callable[[], Catalogue]) -> dict[str, RemovalRules]:
    """Return each component's rules; those of inventories that have none yet are the catalogue's."""
    silent = [name for name, item in known.items() if item.removal is None]
    entries = catalogue() if silent else {}
    return {name: rules_in(entries, name) if item.removal is None else item.removal for name, item in known.items()}


def users_objects(
    session: Session, removal: Removal, holders: Mapping[ObjectRef, Object]
) -> dict[ObjectRef, Sequence[ObjectRef]]:
    """Return the users' objects that would go with `holders` now, by what holds them."""
    mine, own, rules = removal.mine, removal.kinds, removal.all_rules
    found = {ref: held_by(session, obj, mine=mine, own=own, rules=rules) for ref, obj in holders.items()}
    return {ref: users for ref, users in found.items() if users}
