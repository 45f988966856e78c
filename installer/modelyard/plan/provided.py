"""Does a cluster have what a component would bring, so that others may use it there? Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from modelyard.objects import Object, ObjectRef, dig, mappings, ref_of, text
from modelyard.plan import kinds


def brought(objects: Iterable[Object]) -> dict[ObjectRef, Object]:
    """Return what other components may use of a component: its CRDs and its own custom resources.

    What the Operator Lifecycle Manager installs it from is left out: another Subscription gives the same.
    """
    return {
        ref: obj
        for obj in objects
        if (ref := ref_of(obj)).group_kind == kinds.CRD or (kinds.is_custom(ref.group_kind) and ref.group != kinds.OLM)
    }


def lacking(wanted: Mapping[ObjectRef, Object], live: Mapping[ObjectRef, Object]) -> tuple[str, ...]:
    """Return which of the `wanted` objects do not live, or do not serve the version that is used here, for people."""
    found = []
    for ref, obj in sorted(wanted.items()):
        if ref not in live:
            found.append(str(ref))
        elif ref.group_kind == kinds.CRD:
            found += [f"{ref}, version {version}" for version in _stored(obj) if version not in _served(live[ref])]
    return tuple(found)


def _stored(crd: Object) -> list[str]:
    return [text(each, "name") for each in mappings(crd, "spec", "versions") if dig(each, "storage") is True]


def _served(crd: Object) -> set[str]:
    return {text(each, "name") for each in mappings(crd, "spec", "versions") if dig(each, "served") is True}
