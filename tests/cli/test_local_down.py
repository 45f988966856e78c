"""`modelyard local down` over several clusters: one that makes trouble does not keep the others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from modelyard.errors import LocalClusterError
from modelyard.local.host.files import locked
from modelyard.local.state.layout import MARK, Layout, make_root

Down = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Three clusters that are down."""
    for name in ("a", "b", "c"):
        make_root(Layout(tmp_path / "state" / name))
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
    make_root(Layout(state / "half"))
    (state / "half/lock").touch()
    (state / "half/pki").mkdir()
    theirs = {
        "letters": "lock",
        "only-a-lock": "lock",
        "keys": "pki",
        "notes": "cluster.json",
        "mark": MARK,
        "empty": "",
    }
    for name, held in theirs.items():
        (state / name).mkdir()
        if held:
            (state / name / held).write_text("{}")
    (state / "link").symlink_to(state / "a")
    done = down("--all", "--delete")
    assert done.returncode == 0, done.stderr
    assert sorted(entry.name for entry in state.iterdir()) == sorted([*theirs, "link"])


def test_cluster_of_before_there_were_marks_is_deleted_by_its_record(state: Path, down: Down) -> None:
    (state / "old").mkdir()
    (state / "old/cluster.json").write_text('{"port": 7000, "nodes": 1, "fake_nodes": 0, "fake_gpus": 0}')
    done = down("--name", "old", "--delete")
    assert done.returncode == 0, done.stderr
    assert not (state / "old").exists()


def test_folder_of_others_is_neither_deleted_nor_used_by_its_name(state: Path, down: Down) -> None:
    (state / "bob").mkdir()
    (state / "bob/letter").write_text("dear")
    done = down("--name", "bob", "--delete")
    assert (done.returncode, (state / "bob/letter").read_text()) == (11, "dear")
    assert "was not made by `modelyard local up`" in done.stderr
    with pytest.raises(LocalClusterError, match="it holds letter"):
        make_root(Layout(state / "bob"))
    assert [entry.name for entry in (state / "bob").iterdir()] == ["letter"]


def test_folders_deeper_than_python_can_follow_and_odd_names_are_deleted(state: Path, down: Down) -> None:
    (state / "a/line\nbreak").write_text("x")
    (state / "a/link").symlink_to(state / "b")
    handle = os.open(state / "a", os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=handle)
        below = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)
    done = down("--name", "a", "--delete")
    assert done.returncode == 0, done.stderr
    assert sorted(entry.name for entry in state.iterdir()) == ["b", "c"]
    assert (state / "b/cluster.json").is_file()


def test_broken_kubeconfig_is_told_once_all_clusters_are_deleted(tmp_path: Path, state: Path, down: Down) -> None:
    (tmp_path / "kubeconfig").write_text("a: [")
    done = down("--all", "--delete")
    assert list(state.iterdir()) == []
    assert done.stdout.splitlines() == [f"cluster {name} is deleted" for name in "abc"]
    assert done.returncode == 11
    assert done.stderr.count("it is not a kubeconfig") == 1
