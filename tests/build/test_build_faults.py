"""Real refusals of the Go toolchain: a proxy that is down, a module that is not what go.sum pins."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from modelyard.errors import BuildError
from modelyard.local.build import binaries
from modelyard.local.build.binaries import KUSTOMIZE, MODULES, build_binary
from modelyard.local.build.store import Store
from modelyard.local.build.toolchain import GoToolchain, find_go
from modelyard.paths import cache_dir


def test_a_proxy_that_does_not_answer_is_named_and_nothing_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOPROXY", "http://127.0.0.1:9")  # the discard port: nobody listens
    found = find_go(cache_dir())
    empty = GoToolchain(found.go, found.version, tmp_path / "cache")
    with pytest.raises(BuildError) as caught:
        build_binary(KUSTOMIZE, empty, Store(tmp_path / "store"))
    assert "connection refused" in caught.value.cause
    assert "what is built is kept" in caught.value.remedy
    assert Store(tmp_path / "store").entries() == []


def test_a_module_that_is_not_the_pinned_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(MODULES, tmp_path / "modules")
    sums = tmp_path / "modules/shared/go.sum"
    tampered = re.sub(r"(?m)^(sigs\.k8s\.io/kustomize/kustomize/v5 v\S+ h1:)....", r"\1AAAA", sums.read_text())
    assert tampered != sums.read_text()
    sums.write_text(tampered)
    monkeypatch.setattr(binaries, "MODULES", tmp_path / "modules")
    with pytest.raises(BuildError) as caught:
        build_binary(KUSTOMIZE, find_go(cache_dir()), Store(tmp_path / "store"))
    assert "is not what go.sum pins" in caught.value.remedy
    assert Store(tmp_path / "store").entries() == []
