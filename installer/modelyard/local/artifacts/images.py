"""Images of Go binaries: one static binary on nothing, under the upstream name and tag."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from modelyard.local.artifacts.binaries import GoBinary
from modelyard.local.artifacts.oci import ImageConfig, write_binary_layer, write_image
from modelyard.local.artifacts.store import Store, digest

_FORMAT = "1"  # raise when the way in which images are written changes what is in them


@dataclass(frozen=True, slots=True)
class GoImage:
    """An image made of one binary.

    Args:
        name: full name and tag, as containerd names it.
        binary: what it runs.
        entrypoint: path of the binary in the image, as the upstream manifest calls it.
        user: "UID:GID".
    """

    name: str
    binary: GoBinary
    entrypoint: str
    user: str = "65532:65532"

    def key(self, go_version: str) -> str:
        """Return the hash over all that decides the archive's content."""
        return digest(_FORMAT, self.name, self.binary.key(go_version), self.entrypoint, self.user)


# The tag that the kubelet of Kubernetes 1.35 names by default.
PAUSE = GoImage(
    name="registry.k8s.io/pause:3.10.1",
    binary=GoBinary("pause", "pause", "modelyard/local/pause"),
    entrypoint="/pause",
    user="65535:65535",
)


def build_go_image(image: GoImage, binary: Path, go_version: str, store: Store) -> Path:
    """Return the path of `image`'s archive, assembled around `binary` if the store has none."""
    return store.get(
        "image", image.key(go_version), lambda target: _assemble(image, {image.entrypoint: binary}, target)
    )


def _assemble(image: GoImage, files: Mapping[str, Path], target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        layer = Path(scratch) / "layer.tar"
        write_binary_layer(layer, files)
        write_image(target, image.name, [layer], ImageConfig(entrypoint=[image.entrypoint], user=image.user))
