"""`modelyard local down` over several clusters: one that makes trouble does not keep the others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from modelyard.local.runtime.files import locked

Down = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Three clusters that are down."""
    for name in ("a", "b", "c"):
        (tmp_path / "state" / name).mkdir(parents=True)
        (tmp_path / "state" / name / "cluster.json").write_text("{}")
    return tmp_path / "state"


@pytest.fixture
def down(tmp_path: Path, state: Path) -> Down:
    variables = {"MODELYARD_STATE_DIR": str(state), "KUBECONFIG": str(tmp_path / "kubeconfig")}
    return lambda *options: subprocess.run(
        [sys.executable, "-m", "modelyard", "local", "down", *options],
        env=os.environ | variables,
        text=True,
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_cluster_that_cannot_end_does_not_keep_the_others(state: Path, down: Down) -> None:
    with locked(state / "a" / "lock"):
        done = down("--all", "--delete")
    assert [entry.name for entry in state.iterdir()] == ["a"]
    assert (done.returncode, done.stderr.count("error: cluster a: another")) == (11, 1), done.stderr


def test_what_an_interrupted_up_left_is_deleted_and_folders_of_others_stay(state: Path, down: Down) -> None:
    for name, held in {"half": ("lock", "pki"), "others": ("lock", "letters"), "empty": ()}.items():
        (state / name).mkdir()
        for each in held:
            (state / name / each).touch()
    done = down("--all", "--delete")
    assert done.returncode == 0, done.stderr
    assert sorted(entry.name for entry in state.iterdir()) == ["empty", "others"]


def test_broken_kubeconfig_is_told_once_all_clusters_are_deleted(tmp_path: Path, state: Path, down: Down) -> None:
    (tmp_path / "kubeconfig").write_text("a: [")
    done = down("--all", "--delete")
    assert list(state.iterdir()) == []
    assert done.stdout.splitlines() == [f"cluster {name} is deleted" for name in "abc"]
    assert done.returncode == 11
    assert done.stderr.count("it is no kubeconfig") == 1
