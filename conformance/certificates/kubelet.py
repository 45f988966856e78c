"""Mounted Secrets, renewed at once: by itself the kubelet does it once a minute or so."""

from __future__ import annotations

from types import TracebackType

from modelyard.cluster import Session
from modelyard.objects import GroupKind, ObjectRef, ref_of

_POD = GroupKind("", "Pod")
_ANNOTATION = "modelyard.dev/conformance-certificate"


class Mounts:
    """The mounted Secrets of a namespace's pods; use it in `with`, so that no mark is left on them.

    Args:
        session: the cluster.
        namespace: the pods' namespace.
    """

    def __init__(self, session: Session, namespace: str) -> None:
        self._session = session
        self._namespace = namespace

    def __enter__(self) -> Mounts:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._mark(None)

    def renew(self, mark: str) -> None:
        """Have the kubelet look at the pods: any change of a pod makes it remount their Secrets.

        Args:
            mark: a value that is new.
        """
        self._mark(mark)

    def _mark(self, mark: str | None) -> None:
        for ref in self._pods():
            self._session.patch(ref, {"metadata": {"annotations": {_ANNOTATION: mark}}})

    def _pods(self) -> list[ObjectRef]:
        listing = self._session.list(_POD, namespace=self._namespace)
        return [ref_of(pod) for pod in listing.items] if listing else []
