"""`make clean` takes away all that is modelyard's on a machine, and nothing beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from modelyard.local.state.layout import layout, make_root
from modelyard.paths import data_root

BIN = Path(sys.executable).parent
MADE = ("build/report", "dist/wheel", "bench-results/warm.json", ".pytest_cache/x", ".venv/bin/other")


def test_make_clean_removes_clusters_caches_and_what_was_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone, cache, state = tmp_path / "clone", tmp_path / "cache", tmp_path / "state"
    monkeypatch.setenv("MODELYARD_STATE_DIR", str(state))
    make_root(layout("left"))  # what an `up` that was interrupted leaves
    module = cache / "go/mod/example.test@v1"
    for path in (*(clone / each for each in MADE), module / "go.mod", clone / "README.md", state / "somebody-elses"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    module.chmod(0o555)  # as Go leaves them
    subprocess.run(
        ["make", "-f", data_root() / "Makefile", "clean", f"BIN={BIN}"],
        cwd=clone,
        env=os.environ | {"MODELYARD_CACHE_DIR": str(cache)},
        check=True,
        timeout=120,
    )
    assert [path.name for path in clone.iterdir()] == ["README.md"]
    assert not cache.exists()
    assert [path.name for path in state.iterdir()] == ["somebody-elses"]
