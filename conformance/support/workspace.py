"""A namespace of one test's own, and what is asked of it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

from conformance.support.kinds import NAMESPACE, POD, SERVICE_ACCOUNT
from conformance.support.waiting import wait_for
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, ObjectRef, mapping, text

LABEL = "modelyard.dev/conformance"
# What a namespace opts in by: without it Kueue, and every webhook for pods, passes it over (docs/how-to/namespaces.md).
MANAGED = {"modelyard.dev/managed": "true"}


class Workspace:
    """A namespace; everything in it is the test's.

    Args:
        session: the cluster.
        name: the namespace's name.
    """

    def __init__(self, session: Session, name: str) -> None:
        self.session = session
        self.name = name

    @property
    def ref(self) -> ObjectRef:
        """Return the namespace itself."""
        return ObjectRef(NAMESPACE.group, NAMESPACE.kind, "", self.name)

    def create(self, obj: Object) -> Object:
        """Create an object in this namespace, and return it as the apiserver has it."""
        return self.session.create(self._here(obj))

    def apply(self, obj: Object) -> Object:
        """Apply an object in this namespace."""
        return self.session.apply(self._here(obj))

    def get(self, kind: GroupKind, name: str) -> Object:
        """Return an object; an empty one where it is not there."""
        return self.session.get(ObjectRef(kind.group, kind.kind, self.name, name)) or {}

    def list(self, kind: GroupKind, *, selector: str = "") -> Sequence[Object]:
        """Return the objects of a kind, oldest first."""
        listing = self.session.list(kind, namespace=self.name, label_selector=selector)
        assert listing is not None, f"the cluster has no kind {kind}"
        return sorted(listing.items, key=lambda item: text(item, "metadata", "creationTimestamp"))

    def pods(self, selector: str = "") -> Sequence[Object]:
        """Return the pods."""
        return self.list(POD, selector=selector)

    def delete(self, kind: GroupKind, name: str) -> None:
        """Delete an object, and what it owns."""
        self.session.delete(ObjectRef(kind.group, kind.kind, self.name, name))

    def logs(self, pod: str, container: str = "") -> str:
        """Return what a pod's container has written so far; empty where it has not started."""
        query = {"container": container} if container else {}
        path = f"/api/v1/namespaces/{self.name}/pods/{pod}/log"
        answer = self.session.transport.send("GET", path, query=query, accept="*/*")
        return answer.body.decode(errors="replace") if answer.code == 200 else ""

    def ask(self, pod: str, port: int, path: str) -> tuple[int, str]:
        """Send a GET request to a pod through the apiserver; return status and body."""
        proxied = f"/api/v1/namespaces/{self.name}/pods/{pod}:{port}/proxy/{path.lstrip('/')}"
        answer = self.session.transport.send("GET", proxied, accept="*/*")
        return answer.code, answer.body.decode(errors="replace")

    def _here(self, obj: Object) -> Object:
        return {**obj, "metadata": {**mapping(obj, "metadata"), "namespace": self.name}}


def open_workspace(
    session: Session, area: str, *, labels: Mapping[str, str] | None = None, managed: bool = True
) -> Workspace:
    """Make a namespace with a name that nothing else has.

    Args:
        session: the cluster.
        area: goes into the name.
        labels: further labels of the namespace.
        managed: it opts in.
    """
    name = f"conformance-{area}-{secrets.token_hex(3)}"
    marks = {LABEL: name, "pod-security.kubernetes.io/enforce": "baseline"}
    marks |= (MANAGED if managed else {}) | dict(labels or {})
    session.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": marks}})
    workspace = Workspace(session, name)
    # Until it is there, the apiserver refuses pods.
    wait_for(f"ServiceAccount {name}/default", lambda: workspace.get(SERVICE_ACCOUNT, "default"))
    return workspace
