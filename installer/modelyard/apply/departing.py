"""Before a component is applied: what somebody has deleted, and is not gone yet, is waited for."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from modelyard.apply import members
from modelyard.apply.controllers import read_controllers
from modelyard.apply.run import Run
from modelyard.apply.stuck import Stuck
from modelyard.errors import ModelyardError, NotReadyError
from modelyard.objects import Object, ObjectRef, ref_of, text
from modelyard.plan.stuck import is_going, staying

ASK_SECONDS = 0.5
WAY_ON = "modelyard uninstall --delete-data --remove-finalizers"


def departing(wanted: Iterable[Object], live: Mapping[ObjectRef, Object]) -> dict[ObjectRef, Object]:
    """Return those of the `live` objects that are wanted and are being deleted."""
    return {ref: live[ref] for ref in map(ref_of, wanted) if ref in live and is_going(live[ref])}


def wait_departed(run: Run, key: str, going: dict[ObjectRef, Object]) -> None:
    """Wait until objects that are being deleted are gone: what is applied to them now would go with them.

    Args:
        run: the run.
        key: the step that is told of the progress.
        going: the objects.

    Raises:
        NotReadyError: the deadline passed; names what stays, what it waits for and the way on.
    """
    began, deadline = time.monotonic(), run.deadline()
    left = {ref: text(obj, "metadata", "uid") for ref, obj in going.items()}
    while True:
        run.check()
        live = {ref: run.session.get(ref) for ref in left}
        there = {ref: obj for ref, obj in live.items() if obj and text(obj, "metadata", "uid") == left[ref]}
        if not there:
            return
        ref, obj = min(there.items())
        run.progress(key, f"{ref} is being deleted: {staying(obj)}")
        if time.monotonic() >= deadline:
            raise _late(run, there, time.monotonic() - began)
        run.cancelled.wait(ASK_SECONDS)


def _late(run: Run, left: dict[ObjectRef, Object], seconds: float) -> ModelyardError:
    inventories = members.read_all(run.session)
    stuck = Stuck(read_controllers(run.session, inventories), set(left), set(), {})
    error = stuck.late(run, left, seconds)
    return NotReadyError(
        error.subject,
        f"is being deleted, so nothing can be applied to it; it {error.cause}",
        f"once the controller is at work, run the same command again; or end it: {WAY_ON}, then install again",
    )
