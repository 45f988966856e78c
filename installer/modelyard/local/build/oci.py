"""OCI images as archives that `ctr images import` takes: an image layout in one tar, with the name annotated.

Source: the OCI image layout specification; `io.containerd.image.name` is containerd's annotation for the name
under which an imported image is known.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from modelyard.local.build.store import file_digest
from modelyard.local.machine import architecture

_LAYER = "application/vnd.oci.image.layer.v1.tar"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"


@dataclass(frozen=True, slots=True)
class ImageConfig:
    """What a container of the image runs by default.

    Args:
        entrypoint: argv of the process.
        user: "UID:GID"; numbers, since `runAsNonRoot` cannot check names.
        environment: variables.
        working_dir: where the process starts.
        labels: facts about the image.
    """

    entrypoint: Sequence[str]
    user: str = "65532:65532"
    environment: Mapping[str, str] = field(default_factory=lambda: {"PATH": "/usr/local/bin:/usr/bin:/bin"})
    working_dir: str = "/"
    labels: Mapping[str, str] = field(default_factory=dict)


def write_image(out: Path, name: str, layers: Sequence[Path], config: ImageConfig) -> None:
    """Write an image archive.

    Args:
        out: the archive to write.
        name: full name and tag, as containerd names it ("docker.io/rayproject/ray:2.46.0").
        layers: uncompressed layer tars, lowest first.
        config: the image's defaults.
    """
    digests = [file_digest(layer) for layer in layers]
    config_blob = _json(
        {
            "architecture": architecture(),
            "os": "linux",
            "config": {
                "Entrypoint": list(config.entrypoint),
                "User": config.user,
                "Env": [f"{key}={value}" for key, value in sorted(config.environment.items())],
                "WorkingDir": config.working_dir,
                "Labels": dict(config.labels),
            },
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}" for digest in digests]},
            "history": [{"created_by": "modelyard"} for _ in digests],
        }
    )
    manifest_blob = _json(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _descriptor(_CONFIG, config_blob),
            "layers": [
                {"mediaType": _LAYER, "digest": f"sha256:{digest}", "size": layer.stat().st_size}
                for layer, digest in zip(layers, digests, strict=True)
            ],
        }
    )
    annotations = {
        "io.containerd.image.name": name,
        "org.opencontainers.image.ref.name": name.rpartition(":")[2],
    }
    index = {
        "schemaVersion": 2,
        "manifests": [_descriptor(_MANIFEST, manifest_blob) | {"annotations": annotations}],
    }
    with tarfile.open(out, "w") as archive:
        _add_bytes(archive, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        _add_bytes(archive, "index.json", _json(index))
        for blob in (config_blob, manifest_blob):
            _add_bytes(archive, f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}", blob)
        for layer, digest in zip(layers, digests, strict=True):
            with layer.open("rb") as stream:
                archive.addfile(_entry(f"blobs/sha256/{digest}", layer.stat().st_size), stream)


def manifest_digest(archive: Path) -> str:
    """Return the digest of an archive's image, as containerd lists it ("sha256:...")."""
    with tarfile.open(archive) as layout:
        index = layout.extractfile("index.json")
        assert index is not None  # write_image puts a file there
        return str(json.load(index)["manifests"][0]["digest"])


def write_binary_layer(out: Path, files: Mapping[str, Path], links: Mapping[str, str] | None = None) -> None:
    """Write a layer tar that holds executables and the few folders that any process expects.

    Args:
        out: the tar to write.
        files: path in the image -> file on this machine.
        links: path in the image -> what the symbolic link there says.
    """
    links = links or {}
    with tarfile.open(out, "w") as layer:
        paths = [Path(name.lstrip("/")) for name in [*files, *links]]
        folders = {"etc", "tmp"} | {str(parent) for path in paths for parent in path.parents if str(parent) != "."}
        for folder in sorted(folders):
            entry = _entry(folder, 0, mode=0o1777 if folder == "tmp" else 0o755)
            entry.type = tarfile.DIRTYPE
            layer.addfile(entry)
        users = b"root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n"
        _add_bytes(layer, "etc/passwd", users)
        for name, path in sorted(files.items()):
            with path.open("rb") as stream:
                layer.addfile(_entry(name.lstrip("/"), path.stat().st_size, mode=0o755), stream)
        for name, target in sorted(links.items()):
            link = _entry(name.lstrip("/"), 0, mode=0o777)
            link.type, link.linkname = tarfile.SYMTYPE, target
            layer.addfile(link)


def _entry(name: str, size: int, *, mode: int = 0o644) -> tarfile.TarInfo:
    """Return an entry that is the same on every machine: owner root, time zero."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, mode
    return entry


def _add_bytes(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    archive.addfile(_entry(name, len(data)), io.BytesIO(data))


def _descriptor(media_type: str, blob: bytes) -> dict[str, object]:
    return {
        "mediaType": media_type,
        "digest": f"sha256:{hashlib.sha256(blob).hexdigest()}",
        "size": len(blob),
    }


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
