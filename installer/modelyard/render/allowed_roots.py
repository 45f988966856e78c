"""Where kustomizations may be: in the catalogue, and in a user's overlay on top of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class AllowedRoots:
    """The folders that a render may read from, links in their paths resolved.

    Args:
        catalogue: the folder with manifests/ and overlays/.
        overlay: a user's overlay; None for none.
    """

    catalogue: Path
    overlay: Path | None = None

    @property
    def base(self) -> Path:
        """Return the folder that both are in: `../` from one into the other works below it."""
        return Path(os.path.commonpath([self.catalogue, self.overlay or self.catalogue]))

    def holds(self, path: Path) -> bool:
        """Tell whether `path` is in one of them."""
        return path.is_relative_to(self.catalogue) or (self.overlay is not None and path.is_relative_to(self.overlay))

    def shown(self, path: Path) -> str:
        """Return a path for people: below the catalogue, or with the overlay's name before it."""
        if self.overlay is not None and path.is_relative_to(self.overlay):
            return path.relative_to(self.overlay.parent).as_posix()
        return path.relative_to(self.catalogue).as_posix() if path.is_relative_to(self.catalogue) else str(path)
