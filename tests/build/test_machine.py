"""Images are of the machine's architecture, and what is code for one is refused on another."""

from __future__ import annotations

import json
import platform
import tarfile
from pathlib import Path

import pytest

from modelyard.errors import BuildError
from modelyard.events import discard
from modelyard.local.build.oci import ImageConfig, write_image
from modelyard.local.build.python_image import build_python_image
from modelyard.local.machine import architecture
from modelyard.local.node.fake_nodes import objects
from modelyard.programs import Children


@pytest.mark.parametrize(("machine", "named"), [("x86_64", "amd64"), ("aarch64", "arm64")])
def test_image_and_simulated_node_name_the_machines_architecture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str, named: str
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    (tmp_path / "layer.tar").write_bytes(b"")
    write_image(tmp_path / "image.tar", "example.test/x:1", [tmp_path / "layer.tar"], ImageConfig(("/x",)))
    assert _configuration(tmp_path / "image.tar")["architecture"] == named
    assert f'"kubernetes.io/arch": "{named}"' in json.dumps(objects(1, 8))


def test_architecture_without_a_name_is_refused() -> None:
    with pytest.raises(BuildError, match="riscv64"):
        architecture("riscv64")


def test_python_image_is_refused_where_its_stubs_would_be_foreign_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(BuildError, match=r"(?s)recipe ray.*x86-64; this machine is aarch64"):
        build_python_image("ray", tmp_path / "out", tmp_path / "cache", discard, Children())
    assert list(tmp_path.iterdir()) == []


def _configuration(image: Path) -> dict[str, object]:
    with tarfile.open(image) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is None or not member.name.startswith("blobs/"):
                continue
            text = content.read()
            if text.startswith(b"{") and "architecture" in (document := json.loads(text)):
                assert isinstance(document, dict)
                return document
    raise AssertionError("no configuration")
