"""A copy of this clone's catalogue that a test may change, and a real registry."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import registry_server

from modelyard.paths import data_root


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The catalogue with the Go modules that `local` builds from, as in a clone."""
    root = tmp_path / "catalogue"
    for name in ("manifests", "overlays", "installer/modelyard/local/modules"):
        shutil.copytree(data_root() / name, root / name)
    shutil.copyfile(data_root() / "upstream.lock", root / "upstream.lock")
    return root


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Host and port of a registry that is empty at first."""
    with registry_server.running(tmp_path_factory.mktemp("registry")) as host:
        yield host
