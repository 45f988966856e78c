"""Patches that match nothing.

kustomize says so for a patch that names its object, and passes in silence over one that chooses by `target`
(https://github.com/kubernetes-sigs/kustomize/issues/4379). Such a patch is most often one that an upgrade of upstream
has made idle. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from modelyard.objects import Object, annotations_of, labels_of, mapping, ref_of, text
from modelyard.render.kustomization import Field, targeted_patches

# Which kustomization, where in it, and the target that fits nothing.
Idle = tuple[int, Field, Mapping[str, object]]

# They change names, so that what a patch chose cannot be told from what came out.
_RENAMES = ("namePrefix", "nameSuffix")


def unmatched_patches(kustomizations: Iterable[Mapping[str, object]], objects: Sequence[Object]) -> Iterator[Idle]:
    """Yield the patches that fit none of the objects that came out.

    Args:
        kustomizations: those of one component, all of them, with the text of each patch in its field `patch`.
        objects: what kustomize made of them.

    A patch that deletes or renames what it matches is passed over: that it did so cannot be told afterwards.
    """
    contents = list(kustomizations)
    renamed = any(field in content for content in contents for field in _RENAMES)
    moved = any("namespace" in content for content in contents)
    for number, content in enumerate(contents):
        for field, patch in targeted_patches(content):
            target = mapping(patch, "target")
            if not _removes(patch) and not any(_fits(target, obj, renamed=renamed, moved=moved) for obj in objects):
                yield number, field, target


def _removes(patch: Mapping[str, object]) -> bool:
    """Tell whether the patch may take away what it matches, or what it matches it by."""
    return bool(mapping(patch, "options")) or re.search(r"\$patch\W+delete", text(patch, "patch")) is not None


def _fits(target: Mapping[str, object], obj: Object, *, renamed: bool, moved: bool) -> bool:
    """Tell whether a kustomize selector (regular expressions, anchored) fits an object."""
    ref, version = ref_of(obj), text(obj, "apiVersion").rpartition("/")[2]
    looked_at = {"group": ref.group, "version": version, "kind": ref.kind}
    if not renamed:
        looked_at["name"] = ref.name
    if not moved:
        looked_at["namespace"] = ref.namespace or "default"  # as kustomize takes it
    if not all(_matches(text(target, key), value) for key, value in looked_at.items()):
        return False
    return _labels_fit(text(target, "labelSelector"), labels_of(obj)) and _labels_fit(
        text(target, "annotationSelector"), annotations_of(obj)
    )


def _matches(pattern: str, value: str) -> bool:
    if not pattern:
        return True
    try:
        return re.fullmatch(pattern, value) is not None
    except re.error:
        return True  # Go's expressions differ a little: then it cannot be told


def _labels_fit(selector: str, labels: Mapping[str, str]) -> bool:
    """Tell whether `key=value,...` fits; any other form of selector counts as fitting."""
    for term in filter(None, selector.split(",")):
        found = re.fullmatch(r"\s*([\w./-]+)\s*==?\s*([\w.-]*)\s*", term)
        if found is None:
            return True
        if labels.get(found[1]) != found[2]:
            return False
    return True
