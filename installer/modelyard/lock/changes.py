"""What a moved pin changes in what is rendered. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from modelyard.images import find
from modelyard.objects import Object, ObjectRef, ref_of


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between two renderings of some components for one target.

    Args:
        added: objects that are new.
        removed: objects that are gone.
        changed: how many fields differ, by object.
        images_before: images that are gone.
        images_after: images that are new.
    """

    added: tuple[ObjectRef, ...]
    removed: tuple[ObjectRef, ...]
    changed: Mapping[ObjectRef, int]
    images_before: tuple[str, ...]
    images_after: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def lines(self) -> Iterator[str]:
        """Yield the changes for people, one a line."""
        for ref in self.removed:
            yield f"- {ref}"
        for ref in self.added:
            yield f"+ {ref}"
        for ref, count in self.changed.items():
            yield f"~ {ref} ({count} {'field' if count == 1 else 'fields'})"
        for image in self.images_before:
            yield f"- image {image}"
        for image in self.images_after:
            yield f"+ image {image}"


def compare(before: Iterable[Object], after: Iterable[Object], declared: Iterable[str]) -> Changes:
    """Return what differs.

    Args:
        before: objects.
        after: objects.
        declared: image names that component.yaml files declare.
    """
    known = frozenset(declared)
    old, new = {ref_of(obj): obj for obj in before}, {ref_of(obj): obj for obj in after}
    counts = {ref: _differing(old[ref], new[ref]) for ref in sorted(old.keys() & new.keys())}
    images_old, images_new = ({str(each.reference) for each in find(objects.values(), known)} for objects in (old, new))
    return Changes(
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        changed={ref: count for ref, count in counts.items() if count},
        images_before=tuple(sorted(images_old - images_new)),
        images_after=tuple(sorted(images_new - images_old)),
    )


def _differing(old: object, new: object) -> int:
    """Return how many fields differ; one that is only on one side counts as one."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return sum(
            _differing(old[key], new[key]) if key in old and key in new else 1 for key in old.keys() | new.keys()
        )
    if isinstance(old, Sequence) and isinstance(new, Sequence) and not isinstance(old, str | bytes):
        pairs = zip(old, new, strict=False)
        return sum(_differing(*pair) for pair in pairs) + abs(len(old) - len(new))
    return int(old != new)
