"""A rendered object as it is sent: with its ApplySet label and the digest of what was rendered. Pure."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable

from modelyard.errors import CatalogError
from modelyard.objects import Object, annotations_of, labels_of, mapping, mappings, ref_of
from modelyard.plan import kinds
from modelyard.plan.inventory import PART_OF_LABEL

DIGEST = "modelyard.dev/digest"
# What kubebuilder's scaffolding puts where an injector will write; sending it would undo the injection.
_PLACEHOLDERS = ("", "Cg==", "\n")


def digest(objects: Iterable[Object]) -> str:
    """Return one digest of `objects`, whatever their order."""
    lines = sorted(json.dumps(obj, sort_keys=True, separators=(",", ":")) for obj in objects)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def prepare(obj: Object, applyset: str) -> dict[str, object]:
    """Return what is applied for the rendered `obj`.

    Args:
        obj: the rendered object; it is not changed.
        applyset: the ApplySet id of its component.

    Raises:
        CatalogError: the object already claims to be part of an ApplySet.
    """
    if PART_OF_LABEL in labels_of(obj):
        raise CatalogError(str(ref_of(obj)), f"sets the label {PART_OF_LABEL} itself", "take it out of the manifest")
    sent = _without_placeholders({key: value for key, value in obj.items() if key != "status"})
    _encode_string_data(sent)
    metadata = {key: value for key, value in mapping(sent, "metadata").items() if key != "creationTimestamp"}
    metadata["labels"] = {**mapping(metadata, "labels"), PART_OF_LABEL: applyset}
    metadata["annotations"] = {**mapping(metadata, "annotations"), DIGEST: digest([sent])[:32]}
    return {**sent, "metadata": metadata}


def complete_digest(desired: Iterable[Object]) -> str:
    """Return one digest of prepared objects, from the digests that they carry."""
    lines = sorted(f"{ref_of(obj)} {annotations_of(obj)[DIGEST]}" for obj in desired)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _encode_string_data(obj: dict[str, object]) -> None:
    """Put a Secret's stringData into its data, as the apiserver would: live has only that."""
    plain = mapping(obj, "stringData")
    if ref_of(obj).group_kind == kinds.SECRET and plain:
        encoded = {key: base64.b64encode(str(value).encode()).decode() for key, value in plain.items()}
        obj["data"] = {**mapping(obj, "data"), **encoded}
        del obj["stringData"]


def _without_placeholders(obj: dict[str, object]) -> dict[str, object]:
    """Return `obj` without empty caBundles; only what changes is copied: a CRD may have megabytes."""
    kind = ref_of(obj).group_kind
    if kind in kinds.WEBHOOK_CONFIGURATIONS:
        return {**obj, "webhooks": [_clean(hook, "clientConfig") for hook in mappings(obj, "webhooks")]}
    if kind == kinds.CRD:
        return _clean(obj, "spec", "conversion", "webhook", "clientConfig")
    if kind == kinds.API_SERVICE:
        return _clean(obj, "spec")
    return obj


def _clean(obj: Object, *path: str) -> dict[str, object]:
    """Return `obj` without an empty caBundle in the mapping at `path`."""
    if not path:
        return {key: value for key, value in obj.items() if key != "caBundle" or value not in _PLACEHOLDERS}
    inner = obj.get(path[0])
    return {**obj, path[0]: _clean(inner, *path[1:])} if isinstance(inner, dict) else dict(obj)
