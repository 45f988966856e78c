"""The platform's controllers: found by their component's inventory, taken to zero replicas, and brought back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from conformance.support.kinds import POD
from conformance.support.waiting import wait_for
from modelyard.apply.members import read_all
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, ObjectRef, labels_of, mapping, number, ref_of, strings, text
from modelyard.plan.inventory import PART_OF_LABEL, applyset_id
from modelyard.readiness import assess

KINDS = (GroupKind("apps", "Deployment"), GroupKind("apps", "StatefulSet"))


@dataclass(frozen=True, slots=True)
class Controller:
    """A Deployment or StatefulSet of a component.

    Args:
        component: whose it is.
        ref: the object.
        replicas: how many it should have.
        selector: its pods' labels.
    """

    component: str
    ref: ObjectRef
    replicas: int
    selector: str

    def __str__(self) -> str:
        return str(self.ref)


def controllers(session: Session) -> list[Controller]:
    """Return the controllers of all installed components, by component and name."""
    owners = {applyset_id(component): component for component in read_all(session)}
    found = []
    for kind in KINDS:
        listing = session.list(kind, label_selector=PART_OF_LABEL)
        for obj in listing.items if listing else ():
            if owner := owners.get(labels_of(obj).get(PART_OF_LABEL, "")):
                found.append(_controller(owner, obj))
    return sorted(found, key=lambda each: (each.component, str(each)))


@contextmanager
def down(session: Session, controller: Controller) -> Iterator[None]:
    """Have a controller at zero replicas; bring it back and wait until it is ready, whatever happens."""
    try:
        _scale(session, controller, 0)
        wait_for(f"{controller} has no pod", lambda: _pods(session, controller), lambda pods: not pods)
        yield
    finally:
        _scale(session, controller, controller.replicas)
        wait_for(
            f"{controller} is back",
            lambda: assess(session.get(controller.ref) or {}),
            lambda readiness: readiness.current,
        )


def _controller(component: str, obj: Object) -> Controller:
    labels = strings(obj, "spec", "selector", "matchLabels")
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    return Controller(component, ref_of(obj), number(obj, "spec", "replicas", default=1), selector)


def _scale(session: Session, controller: Controller, replicas: int) -> None:
    session.patch(controller.ref, {"spec": {"replicas": replicas}})


def _pods(session: Session, controller: Controller) -> list[str]:
    listing = session.list(POD, namespace=controller.ref.namespace, label_selector=controller.selector)
    owned = [pod for pod in (listing.items if listing else ()) if mapping(pod, "metadata").get("ownerReferences")]
    return [text(pod, "metadata", "name") for pod in owned]
