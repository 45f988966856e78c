"""List the images of a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from modelyard.catalog.values import by_component
from modelyard.events import Emit
from modelyard.images import UsedImage
from modelyard.lock.uses import images_of
from modelyard.platform.asked import Asked
from modelyard.platform.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ImageList:
    """What is used.

    Args:
        target: the target's name.
        images: each image with where it is named.
        pulled_in: components that come only because others require them, with those.
    """

    target: str
    images: Sequence[UsedImage]
    pulled_in: Mapping[str, tuple[str, ...]]


def list_images(asked: Asked, cache_dir: Path | None, emit: Emit) -> ImageList:
    """Return every image of a target, those that no object names because only jobs use them too.

    Args:
        asked: the target and the components; all of the target's unless it says which.
        cache_dir: --cache-dir.
        emit: takes events of tools that must be built.

    Raises:
        ModelyardError: as `render`.
    """
    workspace = Workspace(cache_dir, emit)
    catalog, target = asked.open(workspace.catalog())
    composition = asked.compose(catalog, target)
    values = by_component(asked.site_values(catalog, target))
    found = images_of(catalog, workspace.renderer().objects(catalog, target, composition.names, values))
    return ImageList(target, found, composition.pulled_in)
