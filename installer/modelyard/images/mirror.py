"""Where images are in a private registry: every registry's images below one name, told apart by their old host."""

from __future__ import annotations

from dataclasses import dataclass

from modelyard.errors import CatalogError
from modelyard.images.reference import Reference, is_registry, is_repository


@dataclass(frozen=True, slots=True)
class Mirror:
    """A registry, or a folder in one, that holds copies.

    Args:
        registry: its host, with or without a port.
        folder: path in it that all copies are below; may be empty.
    """

    registry: str
    folder: str = ""

    def __str__(self) -> str:
        return f"{self.registry}/{self.folder}" if self.folder else self.registry

    def of(self, image: Reference) -> Reference:
        """Return the copy of `image`; a copy is its own.

        The old registry stays in the path, so that two registries' images of one path stay two.
        """
        if image.registry == self.registry and f"{image.repository}/".startswith(f"{self.folder}/".lstrip("/")):
            return image
        host = image.registry.lower().replace(":", "_")  # a port's colon would begin the tag
        path = "/".join(part for part in (self.folder, host, image.repository) if part)
        return Reference(self.registry, path, image.tag, image.digest)


def mirror_named(name: str) -> Mirror:
    """Return the mirror that a user calls `name`: host, port if it has one, and perhaps a folder.

    Raises:
        CatalogError: it is no such name.
    """
    registry, _, folder = name.partition("/")
    if "://" in name:
        cause = "has a scheme; a registry's name has none"
    elif not registry or not is_registry(registry):
        cause = f"`{registry}` is not the host of a registry: without a dot or a port it is a folder of docker.io"
    elif (folder or name.endswith("/")) and not is_repository(folder):
        cause = f"`{folder}` is not a folder of a registry: lower-case letters, digits and . _ - between single slashes"
    else:
        return Mirror(registry, folder)
    raise CatalogError(
        f"mirror {name or '(empty)'}",
        f"is not a valid name of a mirror: {cause}",
        "name it like --mirror registry.example.com:5000/platform",
    )
