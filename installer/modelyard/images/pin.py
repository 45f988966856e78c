"""What a render does with its images: digests from upstream.lock, then the mirror's names."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from modelyard.images.find import Found, rewrite
from modelyard.images.mirror import Mirror
from modelyard.images.reference import Reference
from modelyard.objects import Object

# Full name -> (tag, digest); only images whose digest is resolved.
Pins = Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Rewriting:
    """How the images of rendered objects are rewritten; by default not at all.

    Args:
        pins: digests to add where an image has the pinned tag and no digest.
        mirror: where the images are pulled from instead.
    """

    pins: Pins = field(default_factory=dict)
    mirror: Mirror | None = None

    def __bool__(self) -> bool:
        return bool(self.pins) or self.mirror is not None

    @property
    def key(self) -> str:
        """Return what decides the result: for a cache."""
        return json.dumps([sorted(self.pins.items()), str(self.mirror) if self.mirror else ""])

    def of(self, image: Reference) -> Reference:
        """Return what `image` is pulled as."""
        tag, digest = self.pins.get(image.name, ("", ""))
        if digest and tag == image.tag and not image.digest:
            image = Reference(image.registry, image.repository, image.tag, digest)
        return self.mirror.of(image) if self.mirror else image

    def apply(self, objects: Iterable[Object], declared: Collection[str]) -> list[Object]:
        """Return `objects` with every image rewritten; arguments as `images.rewrite`."""

        def change(found: Found) -> Reference:
            return self.of(found.reference)

        return rewrite(objects, change, declared)
