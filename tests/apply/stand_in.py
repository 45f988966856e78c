"""A stand-in for a controller: while its Deployment is ready, it takes its finalizer off Things that are deleted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from apply_helpers import Obj, definition, deployment, namespace, rendered, thing

from modelyard.apply import Rendered
from modelyard.cluster import ApiError, Session
from modelyard.objects import GroupKind, ObjectRef, number, ref_of
from modelyard.plan.stuck import finalizers, is_going

FINALIZER = "example.test/clean-up"
PAUSE_SECONDS = 0.1


def group_of(own: str) -> str:
    return f"{own}.example.test"


def controller(own: str) -> ObjectRef:
    return ObjectRef("apps", "Deployment", own, "manager")


def component(own: str, *more: Obj, image: str | None = None) -> Rendered:
    """Return a component with a CRD, and a Deployment that stands for its controller."""
    manager = deployment(own, "manager", "echo started; sleep infinity")
    manager["spec"]["replicas"] = 1
    if image is not None:
        manager["spec"]["template"]["spec"]["containers"][0]["image"] = image
    return rendered(own, namespace(own), definition(group_of(own)), manager, *more)


def guarded(own: str, space: str, name: str) -> Obj:
    """Return a Thing that waits for the controller when it is deleted."""
    made = thing(group_of(own), space, name)
    made["metadata"]["finalizers"] = [FINALIZER]
    return made


def scale(session: Session, own: str, replicas: int) -> None:
    session.patch(controller(own), {"spec": {"replicas": replicas}})


@contextmanager
def playing(session: Session, own: str) -> Iterator[None]:
    """Play the controller, for as long as its Deployment has a ready replica."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(PAUSE_SECONDS):
            manager = session.get(controller(own))
            if manager is not None and number(manager, "status", "readyReplicas") > 0:
                _clean_up(session, own)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _clean_up(session: Session, own: str) -> None:
    listing = session.list(GroupKind(group_of(own), "Thing"))
    for item in listing.items if listing else ():
        if is_going(item) and FINALIZER in finalizers(item):
            try:
                session.patch(ref_of(item), {"metadata": {"finalizers": None}})
            except ApiError as error:
                assert error.code == 404, error
