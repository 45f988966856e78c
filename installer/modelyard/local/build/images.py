"""Images of Go binaries: static binaries on nothing, under the upstream name and tag.

Where upstream's manifests call scripts, their files and a static shell are in the image too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from modelyard.local.build import debian
from modelyard.local.build.binaries import GoBinary, module_folder
from modelyard.local.build.failing import require
from modelyard.local.build.oci import ImageConfig, write_binary_layer, write_image
from modelyard.local.build.store import Store, digest
from modelyard.local.build.toolchain import GoToolchain
from modelyard.programs import run

_FORMAT = "1"  # raise when the way in which images are written changes what is in them
_LIST_SECONDS = 60.0
_SHELL = "1"  # the same for what comes with a shell
_SHELL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class GoImage:
    """An image made of a binary, and what upstream's image has beside it.

    Args:
        name: full name and tag, as containerd names it.
        binary: what it runs.
        entrypoint: path of the binary in the image, as the upstream manifest calls it.
        user: "UID:GID".
        more: further binaries by their path in the image.
        files: files by their path in the image: paths in the Go module of `binary`.
        shell: whether it has /bin/sh and the usual commands.
    """

    name: str
    binary: GoBinary
    entrypoint: str
    user: str = "65532:65532"
    more: Mapping[str, GoBinary] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    shell: bool = False

    @property
    def binaries(self) -> Mapping[str, GoBinary]:
        """Return all binaries by their path in the image."""
        return {self.entrypoint: self.binary, **self.more}

    def key(self, go_version: str) -> str:
        """Return the hash over all that decides the archive's content."""
        beside = [f"{path}={binary.key(go_version)}" for path, binary in sorted(self.more.items())]
        beside += [f"{path}={source}" for path, source in sorted(self.files.items())]
        beside += [f"shell {_SHELL}"] if self.shell else []
        return digest(_FORMAT, self.name, self.binary.key(go_version), self.entrypoint, self.user, *beside)


# The tag that the kubelet of Kubernetes 1.35 names by default.
PAUSE = GoImage(
    name="registry.k8s.io/pause:3.10.1",
    binary=GoBinary("pause", "pause", "modelyard/local/pause"),
    entrypoint="/pause",
    user="65535:65535",
)


def build_go_image(image: GoImage, compiled: Mapping[str, Path], toolchain: GoToolchain, store: Store) -> Path:
    """Return the path of `image`'s archive, assembled if the store has none.

    Args:
        image: what to assemble.
        compiled: its binaries by their path in the image.
        toolchain: the Go that they were compiled with.
        store: where it is kept.

    Raises:
        BuildError: a file of upstream's is not there, or Debian's shell cannot be had.
    """

    def assemble(target: Path) -> None:
        files = {path: module_folder(image.binary, toolchain) / source for path, source in image.files.items()}
        links: Mapping[str, str] = {}
        if image.shell:
            busybox = debian.unpack(store, ("busybox-static",)) / "bin/busybox"
            files["/bin/busybox"], links = busybox, _commands(busybox)
        _assemble(image, {**compiled, **files}, links, target)

    return store.get("image", image.key(toolchain.version), assemble)


def _commands(busybox: Path) -> dict[str, str]:
    """Return the links that make busybox answer to its commands' names, and /var/run as distributions have it."""
    listed = require(run([busybox, "--list"], seconds=_LIST_SECONDS), "commands of busybox").text.split()
    return {f"/bin/{name}": "busybox" for name in listed if name != "busybox"} | {"/var/run": "/run"}


def _assemble(image: GoImage, files: Mapping[str, Path], links: Mapping[str, str], target: Path) -> None:
    config = ImageConfig(entrypoint=[image.entrypoint], user=image.user)
    if image.shell:
        config = ImageConfig(entrypoint=[image.entrypoint], user=image.user, environment={"PATH": _SHELL_PATH})
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        layer = Path(scratch) / "layer.tar"
        write_binary_layer(layer, files, links)
        write_image(target, image.name, [layer], config)
