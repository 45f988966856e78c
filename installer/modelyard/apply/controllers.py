"""The platform's controllers: which of them must be at work so that what was deleted can go, and what they say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from modelyard.apply import members
from modelyard.cluster import ApiError, Session, last_said, workload_trouble
from modelyard.objects import GroupKind, Object, ObjectRef, ref_of
from modelyard.plan import kinds, stuck
from modelyard.plan.inventory import PART_OF_LABEL, Inventory


@dataclass(frozen=True, slots=True)
class Controllers:
    """The installed components as far as others wait for them.

    Args:
        members: their live Deployments, StatefulSets, CRDs, webhook configurations and APIServices, by component.
        gone: Deployments and StatefulSets that their inventories name and that are not there.
        owners: the kinds that their CRDs define, each with its component.
    """

    members: Mapping[str, Mapping[ObjectRef, Object]]
    gone: Mapping[str, Sequence[ObjectRef]]
    owners: Mapping[GroupKind, str]

    def workloads(self, component: str) -> list[ObjectRef]:
        """Return a component's Deployments and StatefulSets that are there."""
        return sorted(ref for ref in self.members.get(component, {}) if ref.group_kind in stuck.CONTROLLERS)


def read_controllers(
    session: Session,
    inventories: Mapping[str, Inventory],
    known: Mapping[str, Mapping[ObjectRef, Object]] | None = None,
) -> Controllers:
    """Return the controllers of all installed components.

    Args:
        session: the cluster.
        inventories: the installed components.
        known: the live objects of those that have been read already.
    """
    found: dict[str, Mapping[ObjectRef, Object]] = {}
    gone: dict[str, Sequence[ObjectRef]] = {}
    for name, item in inventories.items():
        live = (known or {}).get(name)
        if live is None:
            live = members.live(session, name, item.group_kinds & stuck.OF_CONTROLLERS, {})
        found[name] = {ref: obj for ref, obj in live.items() if ref.group_kind in stuck.OF_CONTROLLERS}
        wanted = {ref for ref in item.objects if ref.group_kind in stuck.CONTROLLERS}
        gone[name] = sorted(wanted - set(live))
    return Controllers(found, gone, stuck.owners({name: each.values() for name, each in found.items()}))


def in_charge(session: Session, controllers: Controllers, going: Mapping[str, Mapping[ObjectRef, Object]]) -> list[str]:
    """Return the components whose controllers must be at work before anything goes.

    Those that go and that others wait for, or that have custom resources; and those that stay, whose kinds are among
    what goes or in a namespace that does.

    Args:
        session: the cluster.
        controllers: of all installed components.
        going: the objects that go, by component.
    """
    refs = {ref for each in going.values() for ref in each}
    spaces = sorted(ref.name for ref in refs if ref.group_kind == kinds.NAMESPACE)
    wanted = {controllers.owners[ref.group_kind] for ref in refs if ref.group_kind in controllers.owners}
    wanted |= {name for name, objects in going.items() if stuck.others_wait(objects.values())}
    for kind, name in sorted(controllers.owners.items()):
        if name not in wanted and _any(session, kind, [""] if name in going else spaces):
            wanted.add(name)
    return sorted(name for name in wanted if controllers.workloads(name) or controllers.gone.get(name))


def _any(session: Session, kind: GroupKind, namespaces: Iterable[str]) -> bool:
    resource = session.discovery.find(kind)
    if resource is None or (not resource.namespaced and "" not in namespaces):
        return False
    try:
        listings = [session.list(kind, namespace=each, metadata_only=True) for each in namespaces]
    except ApiError:  # as of a kind whose conversion nobody answers for: then its controller is wanted
        return True
    return any(listing is not None and listing.items for listing in listings)


def fresh(session: Session) -> dict[ObjectRef, Object]:
    """Return the Deployments and StatefulSets of all components as they are now."""
    listings = [session.list(kind, label_selector=PART_OF_LABEL) for kind in sorted(stuck.CONTROLLERS)]
    return {ref_of(item): item for listing in listings if listing for item in listing.items}


def describe(session: Session, controllers: Controllers, component: str) -> str:
    """Return what a component's controllers are doing: "Deployment n/x 0/1 ready: ...; it last said: ..."."""
    live = fresh(session)
    found = [live[ref] for ref in controllers.workloads(component) if ref in live]
    if not found:
        gone = [*controllers.gone.get(component, ()), *controllers.workloads(component)]
        return f"{gone[0]} is not there" if gone else f"component {component} has none"
    said = []
    for obj in found:
        trouble = workload_trouble(session, obj)
        line = last_said(session, obj)
        parts = [stuck.replicas(obj), trouble, f"last log line: {line}" if line and line not in trouble else ""]
        said.append(": ".join(part for part in parts if part))
    return "; ".join(said)
