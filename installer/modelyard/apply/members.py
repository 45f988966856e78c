"""Inventories and their members, read from and written to the cluster."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from importlib.metadata import version

from modelyard.apply.listing import list_labelled
from modelyard.cluster import Session
from modelyard.errors import NotReadyError, RefusalError
from modelyard.objects import GroupKind, Object, ObjectRef, ref_of, text
from modelyard.plan import inventory
from modelyard.plan.inventory import Inventory
from modelyard.plan.stuck import is_going, staying

CONFIG_MAP = GroupKind("", "ConfigMap")
GOING_SECONDS = 60.0
ASK_SECONDS = 0.5


def parent_ref(component: str) -> ObjectRef:
    """Return the reference of a component's parent ConfigMap."""
    return ObjectRef("", "ConfigMap", inventory.NAMESPACE, inventory.parent_name(component))


def selector(component: str) -> str:
    """Return the label selector of a component's objects."""
    return f"{inventory.PART_OF_LABEL}={inventory.applyset_id(component)}"


def read(session: Session, component: str) -> Inventory | None:
    """Return a component's inventory, or None where there is none.

    Raises:
        RefusalError: what is there is another tool's, another cluster's or damaged.
    """
    parent = session.get(parent_ref(component))
    return None if parent is None else trusted(session, parent, component)


def read_all(session: Session) -> dict[str, Inventory]:
    """Return all inventories by component; RefusalError for one that cannot be trusted."""
    listing = session.list(CONFIG_MAP, namespace=inventory.NAMESPACE, label_selector=inventory.ID_LABEL)
    found: dict[str, Inventory] = {}
    for parent in listing.items if listing else ():
        name = text(parent, "metadata", "name").removeprefix(inventory.PREFIX)
        found[name] = trusted(session, parent, name)
    return dict(sorted(found.items()))


def trusted(session: Session, parent: Object, component: str) -> Inventory:
    """Return the inventory that `parent` holds; RefusalError where it must not be trusted."""
    cause = inventory.trouble(parent, component, cluster=session.cluster_id)
    if cause:
        raise RefusalError(
            f"inventory of component {component} ({parent_ref(component)})",
            f"{cause}; nothing was changed",
            f"if it is of no use here: kubectl -n {inventory.NAMESPACE} delete configmap "
            f"{inventory.parent_name(component)}, then `modelyard install --component {component}` writes a new one",
        )
    return inventory.read_parent(parent)


def write(session: Session, wanted: Inventory) -> None:
    """Write an inventory's parent."""
    session.apply(inventory.parent_object(wanted, tool_version=version("modelyard")))


def ensure_namespace(session: Session) -> None:
    """Create the inventories' namespace unless it is there; wait until one that is being deleted is gone.

    Raises:
        NotReadyError: it is still being deleted after a minute.
    """
    ref = ObjectRef("", "Namespace", "", inventory.NAMESPACE)
    deadline = time.monotonic() + GOING_SECONDS
    while (there := session.get(ref)) is not None and is_going(there):
        if time.monotonic() >= deadline:
            raise NotReadyError(
                str(ref),
                f"is still being deleted after {GOING_SECONDS:.0f} s: {staying(there)}",
                f"see why: kubectl get namespace {ref.name} -o yaml; then run the same command again",
            )
        session.transport.cancelled.wait(ASK_SECONDS)
    if there is None:
        session.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": inventory.NAMESPACE}})


def live(
    session: Session, component: str, group_kinds: Iterable[GroupKind], versions: Mapping[GroupKind, str]
) -> dict[ObjectRef, Object]:
    """Return the live objects that carry a component's label.

    Args:
        session: the cluster.
        component: whose.
        group_kinds: where to look.
        versions: the API version to have a kind in; kinds that are missing come in the preferred one.

    Raises:
        ModelyardError: one of the lists failed; then nothing may be concluded from the others.
    """
    found: dict[ObjectRef, Object] = {}
    for kind in sorted(group_kinds):
        for item in list_labelled(session, kind, selector(component), version=versions.get(kind, "")):
            found[ref_of(item)] = item
    found.pop(parent_ref(component), None)
    return found
