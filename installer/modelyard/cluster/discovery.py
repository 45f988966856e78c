"""Which resource serves a kind: from the apiserver's aggregated discovery, and from CRDs just applied.

Two requests give all groups (aggregated discovery, in every Kubernetes since 1.27). A CRD tells the rest
itself, so nothing waits for discovery to catch up with it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from modelyard.cluster.failures import refusal
from modelyard.cluster.transport import Transport
from modelyard.objects import GroupKind, Object, dig, mappings, sequence, text

_ACCEPT = ",".join(
    f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList" for version in ("v2", "v2beta1")
)


@dataclass(frozen=True, slots=True)
class Resource:
    """How a kind is reached.

    Args:
        kind: group and kind.
        version: the version that the path names.
        plural: the resource's name in paths.
        namespaced: whether its objects live in namespaces.
        verbs: what can be done.
    """

    kind: GroupKind
    version: str
    plural: str
    namespaced: bool
    verbs: frozenset[str] = frozenset({"create", "delete", "get", "list", "patch", "watch"})

    def path(self, namespace: str = "", name: str = "", *, version: str = "") -> str:
        """Return the request path of one object, of a namespace's objects, or of all."""
        head = f"/apis/{self.kind.group}" if self.kind.group else "/api"
        parts = [head, version or self.version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        if name:
            parts.append(name)
        return "/".join(parts)


class Discovery:
    """The kinds of one cluster, asked for once and again when one is missing."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._lock = threading.Lock()
        self._known: dict[GroupKind, Resource] = {}
        self._loaded = False

    def find(self, kind: GroupKind) -> Resource | None:
        """Return how `kind` is reached, or None where this cluster does not have it."""
        with self._lock:
            if kind not in self._known:
                self._load()
            return self._known.get(kind)

    def all(self) -> list[Resource]:
        """Return all kinds that can be listed, asked for anew."""
        with self._lock:
            self._load()
            return [resource for _, resource in sorted(self._known.items()) if "list" in resource.verbs]

    def known(self) -> list[Resource]:
        """Return all kinds that can be listed, as they were when they were last asked for."""
        with self._lock:
            if not self._loaded:
                self._load()
            return [resource for _, resource in sorted(self._known.items()) if "list" in resource.verbs]

    def by_plural(self, group: str, plural: str) -> Resource | None:
        """Return the kind whose resource is `plural` in `group`."""
        with self._lock:
            if not self._loaded:
                self._load()
            for resource in self._known.values():
                if (resource.kind.group, resource.plural) == (group, plural):
                    return resource
        return None

    def learn(self, crd: Object) -> None:
        """Add the kind that `crd` defines."""
        resource = resource_of_crd(crd)
        with self._lock:
            if not self._loaded:
                self._load()
            self._known[resource.kind] = resource

    def _load(self) -> None:
        for path in ("/api", "/apis"):
            answer = self._transport.send("GET", path, accept=_ACCEPT)
            if answer.code >= 400:
                raise refusal(f"discovery {path}", answer.code, answer.body)
            for resource in parse(json.loads(answer.body)):
                self._known[resource.kind] = resource
        self._loaded = True


def parse(listing: object) -> Iterator[Resource]:
    """Yield the kinds of an APIGroupDiscoveryList, each in the group's preferred version that has it."""
    seen: set[GroupKind] = set()
    for group in mappings(listing, "items"):
        for version in mappings(group, "versions"):
            for found in mappings(version, "resources"):
                kind = GroupKind(text(group, "metadata", "name"), text(found, "responseKind", "kind"))
                if kind in seen or not kind.kind:
                    continue
                # a kind such as Scale belongs to another group
                if text(found, "responseKind", "group") not in ("", kind.group):
                    continue
                seen.add(kind)
                yield Resource(
                    kind=kind,
                    version=text(version, "version"),
                    plural=text(found, "resource"),
                    namespaced=text(found, "scope") == "Namespaced",
                    verbs=frozenset(str(verb) for verb in sequence(found, "verbs")),
                )


def resource_of_crd(crd: Object) -> Resource:
    """Return the kind that a CustomResourceDefinition defines, in its storage version."""
    served = [found for found in mappings(crd, "spec", "versions") if dig(found, "served") is True]
    stored = [found for found in served if dig(found, "storage") is True] or served
    return Resource(
        kind=GroupKind(text(crd, "spec", "group"), text(crd, "spec", "names", "kind")),
        version=text(stored[0], "name") if stored else "",
        plural=text(crd, "spec", "names", "plural"),
        namespaced=text(crd, "spec", "scope") == "Namespaced",
    )
