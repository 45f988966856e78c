"""Changes that the apiserver will not make to what is there: who may be deleted and created again for it. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from modelyard.errors import CatalogError
from modelyard.objects import GroupKind, Object, ObjectRef, text
from modelyard.plan import kinds

# What Kubernetes' validation, its CEL rules and the usual webhooks say of a field that cannot be changed. Source:
# k8s.io/apimachinery/pkg/api/validation (FieldImmutableErrorMsg) and k8s.io/kubernetes/pkg/apis/*/validation. A claim
# that is to shrink, and a definition that would lose a version which is stored, are the same: no second try helps.
_UNCHANGEABLE = re.compile(
    r"immutable|oldSelf|(may|can) ?not (be )?(change|update|modif|less than)"
    r"|updates? to .*(is|are) forbidden|updates may not change|must appear in spec\.versions",
    re.IGNORECASE,
)
_PREFIX = re.compile(r'^[\w.]+ "[^"]*" is invalid: ')
_DATA = frozenset({GroupKind("", "PersistentVolumeClaim"), GroupKind("", "PersistentVolume")})


def is_unchangeable(code: int, message: str) -> bool:
    """Tell whether an answer of the apiserver says that a field cannot be changed.

    Args:
        code: its HTTP status.
        message: its message.
    """
    return 400 <= code < 500 and code not in (401, 404, 409) and bool(_UNCHANGEABLE.search(message))


def cause_of(message: str) -> str:
    """Return what the apiserver's message says of the fields, in one line and without the object's name."""
    cause = " ".join(_PREFIX.sub("", message).split())
    return cause if len(cause) <= 300 else cause[:299] + "…"


@dataclass(frozen=True, slots=True)
class Named:
    """An object as a person names it: KIND/NAME or KIND/NAMESPACE/NAME."""

    kind: str
    namespace: str
    name: str

    def means(self, ref: ObjectRef) -> bool:
        """Tell whether `ref` is meant."""
        return ref.kind.lower() == self.kind.lower() and ref.name == self.name and self.namespace in ("", ref.namespace)

    def __str__(self) -> str:
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)


def named(shown: str) -> Named:
    """Return what KIND/NAME or KIND/NAMESPACE/NAME means; ValueError where it is neither."""
    parts = shown.split("/")
    if len(parts) not in (2, 3) or not all(parts):
        raise ValueError(f"{shown!r} is not KIND/NAME or KIND/NAMESPACE/NAME, as in Deployment/team-a/server")
    return Named(parts[0], parts[1] if len(parts) == 3 else "", parts[-1])


def chosen(wanted: Collection[Named], refs: Collection[ObjectRef]) -> set[ObjectRef]:
    """Return the objects among `refs` that are meant.

    Raises:
        CatalogError: one of the names means no object, or several.
    """
    found: set[ObjectRef] = set()
    for each in wanted:
        meant = sorted(ref for ref in refs if each.means(ref))
        if not meant:
            raise CatalogError(f"--recreate {each}", "means no object of this install", "modelyard render lists them")
        if len(meant) > 1:
            raise CatalogError(
                f"--recreate {each}",
                f"means several: {', '.join(map(str, meant))}",
                f"say which, as in --recreate {name_of(meant[0])}",
            )
        found.update(meant)
    return found


def name_of(ref: ObjectRef) -> str:
    """Return how --recreate names an object."""
    return str(Named(ref.kind, ref.namespace, ref.name))


def way_on_by_hand(ref: ObjectRef, live: Object) -> str:
    """Return what a person has to do where the object must not be deleted: data would go with it. Else empty."""
    kind = ref.group_kind
    if kind in _DATA:
        return "its data would go with it: back the data up, or take the change back in an overlay of your own"
    if kind == kinds.CRD:
        return (
            "all objects of its kind would go with it: move them to the new definition by upstream's upgrade notes, "
            "or stay at the version that is installed"
        )
    if kind == kinds.NAMESPACE:
        return "all that is in it would go with it: take the change back"
    retention = text(live, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
    if kind == GroupKind("apps", "StatefulSet") and retention == "Delete":
        return (
            "its claims, and their data, would go with it: set persistentVolumeClaimRetentionPolicy.whenDeleted to "
            "Retain first (kubectl edit statefulset)"
        )
    return ""
