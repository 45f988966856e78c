"""What a test has made goes when it ends; that it is really gone is seen once, at the end of the run."""

from __future__ import annotations

from conformance.support.waiting import wait_for
from modelyard.cluster import Session
from modelyard.objects import ObjectRef


class Removal:
    """Deletes objects at once and remembers them: finalizers take seconds, which the next test can use.

    Args:
        session: the cluster.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._going: list[ObjectRef] = []

    def remove(self, ref: ObjectRef) -> None:
        """Ask for an object's deletion."""
        if self._session.delete(ref):
            self._going.append(ref)

    def finish(self) -> None:
        """Wait until all of it is gone."""
        wait_for("what the tests made is removed", self._left, lambda left: not left, show=_names)

    def _left(self) -> list[ObjectRef]:
        self._going = [ref for ref in self._going if self._session.get(ref) is not None]
        return self._going


def _names(left: list[ObjectRef]) -> str:
    return ", ".join(str(ref) for ref in left)
