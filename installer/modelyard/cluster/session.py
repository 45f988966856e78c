"""What the installer asks of a cluster: get, list, apply, delete, logs."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import cached_property

from modelyard.cluster.discovery import Discovery, Resource
from modelyard.cluster.failures import ApiError, refusal
from modelyard.cluster.transport import Answer, Transport
from modelyard.errors import ApplyError, ClusterUnreachableError
from modelyard.objects import FIELD_MANAGER, GroupKind, Object, ObjectRef, mappings, ref_of, text

APPLY_PATCH = "application/apply-patch+yaml"
MERGE_PATCH = "application/merge-patch+json"
METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
# A CRD that has just been Established may be served a moment later (its handler has its own cache).
SERVING_SECONDS = 15.0
SERVING_PAUSE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Listing:
    """Objects of one kind, and the version at which a watch goes on from them."""

    items: tuple[Object, ...]
    resource_version: str


class Session:
    """An open session with one cluster; safe to use from several threads.

    Args:
        transport: the requests' way.
    """

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.discovery = Discovery(transport)

    @property
    def server(self) -> str:
        """Return the apiserver's URL."""
        return self.transport.server

    def check(self) -> str:
        """Return the cluster's version; ClusterUnreachableError where nobody answers."""
        answer = self.transport.send("GET", "/version")
        if answer.code >= 400:
            raise refusal(f"cluster {self.server}", answer.code, answer.body)
        try:
            return text(json.loads(answer.body), "gitVersion")
        except ValueError as error:
            raise ClusterUnreachableError(
                f"cluster {self.server}",
                "something answers there, but it is not a Kubernetes API server",
                "check --kubeconfig",
            ) from error

    @cached_property
    def cluster_id(self) -> str:
        """Return what tells this cluster from any other: the uid of its kube-system namespace."""
        return text(self.get(ObjectRef("", "Namespace", "", "kube-system")) or {}, "metadata", "uid")

    def get(self, ref: ObjectRef) -> Object | None:
        """Return one object, or None where it, or its kind, is not there."""
        resource = self.discovery.find(ref.group_kind)
        if resource is None:
            return None
        answer = self.transport.send("GET", resource.path(ref.namespace, ref.name))
        if answer.code == 404:
            return None
        return _object(str(ref), answer)

    def list(
        self,
        kind: GroupKind,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
        version: str = "",
    ) -> Listing | None:
        """Return all objects of a kind that match, or None where this cluster does not have the kind.

        Args:
            kind: group and kind.
            namespace: only there; empty: everywhere.
            label_selector: labels that they must have.
            field_selector: fields that they must have.
            metadata_only: leave out all but the metadata.
            version: the API version to have them in; empty: the preferred one.
        """
        resource = self.discovery.find(kind)
        if resource is None:
            return None
        query = {"labelSelector": label_selector, "fieldSelector": field_selector}
        answer = self.transport.send(
            "GET",
            resource.path(namespace, version=version),
            query={key: value for key, value in query.items() if value},
            accept=METADATA_ONLY if metadata_only else "application/json",
        )
        if answer.code == 404:
            return None
        listing = _object(f"list of {kind}", answer)
        served = version or resource.version
        api_version = f"{kind.group}/{served}" if kind.group else served
        # A list's items name neither their version nor their kind.
        items = tuple({**item, "apiVersion": api_version, "kind": kind.kind} for item in mappings(listing, "items"))
        return Listing(items, text(listing, "metadata", "resourceVersion"))

    def apply(self, obj: Object, *, dry_run: bool = False, force: bool = True) -> Object:
        """Apply `obj` server-side as field manager `modelyard`; return it as it is now.

        Args:
            obj: the whole of what should be said about it.
            dry_run: let the apiserver check it, admission included, but keep nothing.
            force: take over fields that others have set.

        Raises:
            ApiError: the apiserver refused it.
            ApplyError: the cluster does not have its kind.
        """
        ref = ref_of(obj)
        resource = self._resource(ref)
        query = {"fieldManager": FIELD_MANAGER, "force": "true" if force else "false"}
        if dry_run:
            query["dryRun"] = "All"
        path = resource.path(ref.namespace, ref.name, version=text(obj, "apiVersion").rpartition("/")[2])
        deadline = time.monotonic() + SERVING_SECONDS
        while True:
            answer = self.transport.send("PATCH", path, query=query, body=obj, content_type=APPLY_PATCH)
            if not _not_served_yet(answer) or time.monotonic() > deadline:
                return _object(str(ref), answer)
            self.transport.cancelled.wait(SERVING_PAUSE_SECONDS)

    def patch(self, ref: ObjectRef, change: Object, *, version: str = "") -> Object:
        """Change some fields of an object by a merge patch; return it as it is now.

        Args:
            ref: the object; it must be there.
            change: the fields; a None removes one.
            version: the API version to ask for; "": the preferred one.
        """
        path = self._resource(ref).path(ref.namespace, ref.name, version=version)
        query = {"fieldManager": FIELD_MANAGER}
        return _object(str(ref), self.transport.send("PATCH", path, query=query, body=change, content_type=MERGE_PATCH))

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        """Create `obj`; ApiError (409) where it is there already."""
        ref = ref_of(obj)
        path = self._resource(ref).path(ref.namespace, version=text(obj, "apiVersion").rpartition("/")[2])
        query = {"fieldManager": FIELD_MANAGER} | ({"dryRun": "All"} if dry_run else {})
        return _object(str(ref), self.transport.send("POST", path, query=query, body=obj))

    def delete(self, ref: ObjectRef, *, uid: str = "", foreground: bool = False) -> bool:
        """Delete one object; return False where it is gone already.

        Args:
            ref: the object.
            uid: delete it only if it still is this one.
            foreground: it stays until all that it owns is gone.
        """
        resource = self.discovery.find(ref.group_kind)
        if resource is None:
            return False
        body: dict[str, object] = {"propagationPolicy": "Foreground" if foreground else "Background"}
        if uid:
            body["preconditions"] = {"uid": uid}
        answer = self.transport.send("DELETE", resource.path(ref.namespace, ref.name), body=body)
        if answer.code == 404:
            return False
        if answer.code == 409 and uid:  # another object has its name by now: not ours to delete
            return False
        _object(str(ref), answer)
        return True

    def log_tail(self, namespace: str, pod: str, container: str, *, previous: bool) -> str:
        """Return the last lines of a container's log; empty where there is none to be had."""
        query = {"container": container, "tailLines": "5", "previous": "true" if previous else "false"}
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/log"
        try:
            answer = self.transport.send("GET", path, query=query, accept="*/*", read_seconds=10)
        except ClusterUnreachableError:  # it explains another failure, it must not become one
            return ""
        return answer.body.decode(errors="replace") if answer.code == 200 else ""

    def _resource(self, ref: ObjectRef) -> Resource:
        resource = self.discovery.find(ref.group_kind)
        if resource is None:
            raise ApplyError(
                str(ref),
                f"the cluster has no kind {ref.group_kind}",
                "install the component that brings its CustomResourceDefinition first (`requires`)",
            )
        return resource


def _object(subject: str, answer: Answer) -> Object:
    if answer.code >= 400:
        raise refusal(subject, answer.code, answer.body)
    found = json.loads(answer.body)
    return found if isinstance(found, dict) else {}


def _not_served_yet(answer: Answer) -> bool:
    """Tell a path that is not there from an object (or its namespace) that is not there."""
    if answer.code != 404:
        return False
    error: ApiError = refusal("", answer.code, answer.body)
    return "could not find the requested resource" in error.message or "page not found" in error.message
