"""Images: the layout that containerd imports, the same bytes each time."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path

from modelyard.local.build.oci import ImageConfig, write_binary_layer, write_image


def make(folder: Path) -> Path:
    folder.mkdir()
    binary = folder / "binary"
    binary.write_bytes(b"\x7fELF and more")
    write_binary_layer(folder / "layer.tar", {"/manager": binary})
    write_image(
        folder / "image.tar", "example.com/a/b:v1", [folder / "layer.tar"], ImageConfig(["/manager"], "1000:1000")
    )
    return folder / "image.tar"


def test_every_blob_is_named_by_its_digest_and_the_chain_holds(tmp_path: Path) -> None:
    with tarfile.open(make(tmp_path / "one")) as archive:
        files = {entry.name: archive.extractfile(entry).read() for entry in archive}  # type: ignore[union-attr]
    for name, content in files.items():
        if name.startswith("blobs/"):
            assert name == f"blobs/sha256/{hashlib.sha256(content).hexdigest()}"

    def blob(descriptor: dict[str, str]) -> bytes:
        return files["blobs/" + descriptor["digest"].replace(":", "/")]

    [top] = json.loads(files["index.json"])["manifests"]
    assert top["annotations"]["io.containerd.image.name"] == "example.com/a/b:v1"
    manifest = json.loads(blob(top))
    config = json.loads(blob(manifest["config"]))
    [layer] = manifest["layers"]
    assert config["config"]["Entrypoint"] == ["/manager"]
    assert config["config"]["User"] == "1000:1000"
    assert config["rootfs"]["diff_ids"] == [layer["digest"]]
    assert layer["size"] == len(blob(layer))


def test_the_layer_holds_an_executable_and_a_writable_tmp(tmp_path: Path) -> None:
    make(tmp_path / "one")
    with tarfile.open(tmp_path / "one/layer.tar") as layer:
        assert layer.getmember("manager").mode == 0o755
        assert layer.getmember("tmp").mode == 0o1777
        assert {entry.mtime for entry in layer} == {0}


def test_links_lie_beside_the_files(tmp_path: Path) -> None:
    shell = tmp_path / "busybox"
    shell.write_bytes(b"\x7fELF")
    write_binary_layer(tmp_path / "layer.tar", {"/bin/busybox": shell}, {"/bin/sh": "busybox", "/var/run": "/run"})
    with tarfile.open(tmp_path / "layer.tar") as layer:
        assert layer.getmember("bin/sh").linkname == "busybox"
        assert layer.getmember("var/run").issym()
        assert layer.getmember("var").isdir()


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    assert make(tmp_path / "one").read_bytes() == make(tmp_path / "two").read_bytes()
