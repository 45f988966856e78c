"""Reading Kubernetes objects without `Any`: they are JSON, so each look is checked.

A base module, like errors and events: every room may import it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Object = Mapping[str, object]
# As whom all of modelyard writes to a cluster (server-side apply).
FIELD_MANAGER = "modelyard"


@dataclass(frozen=True, slots=True, order=True)
class GroupKind:
    """An API group and a kind, whatever the version ("Deployment" of "apps")."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


@dataclass(frozen=True, slots=True, order=True)
class ObjectRef:
    """Which object: what stays the same when its API version changes."""

    group: str
    kind: str
    namespace: str
    name: str

    @property
    def group_kind(self) -> GroupKind:
        """Return the group and kind alone."""
        return GroupKind(self.group, self.kind)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def ref_of(obj: Object) -> ObjectRef:
    """Return the reference of `obj`; parts that it lacks are empty."""
    group, _, _ = text(obj, "apiVersion").rpartition("/")
    return ObjectRef(group, text(obj, "kind"), text(obj, "metadata", "namespace"), text(obj, "metadata", "name"))


def dig(obj: object, *path: str) -> object:
    """Follow keys from `obj`; None where one of them is missing or not a mapping."""
    for key in path:
        if not isinstance(obj, Mapping):
            return None
        obj = obj.get(key)
    return obj


def text(obj: object, *path: str) -> str:
    """Return the string at `path`, or an empty one."""
    value = dig(obj, *path)
    return value if isinstance(value, str) else ""


def number(obj: object, *path: str, default: int = 0) -> int:
    """Return the whole number at `path`, or `default`."""
    value = dig(obj, *path)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def mapping(obj: object, *path: str) -> Object:
    """Return the mapping at `path`, or an empty one."""
    value = dig(obj, *path)
    return value if isinstance(value, Mapping) else {}


def sequence(obj: object, *path: str) -> Sequence[object]:
    """Return the list at `path`, or an empty one."""
    value = dig(obj, *path)
    return value if isinstance(value, list | tuple) else ()


def mappings(obj: object, *path: str) -> list[Object]:
    """Return the mappings in the list at `path`."""
    return [item for item in sequence(obj, *path) if isinstance(item, Mapping)]


def strings(obj: object, *path: str) -> dict[str, str]:
    """Return the string entries of the mapping at `path` (labels, annotations)."""
    return {key: value for key, value in mapping(obj, *path).items() if isinstance(value, str)}


def labels_of(obj: object) -> dict[str, str]:
    """Return an object's labels."""
    return strings(obj, "metadata", "labels")


def annotations_of(obj: object) -> dict[str, str]:
    """Return an object's annotations."""
    return strings(obj, "metadata", "annotations")
