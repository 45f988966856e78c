"""`modelyard local status` over several clusters: one whose files are damaged does not hide the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Status = Callable[..., "subprocess.CompletedProcess[str]"]
GOOD = {"port": 16443, "nodes": 1, "fake_nodes": 0, "fake_gpus": 0}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Clusters that are down; the records of all but `good` are damaged, and `No name` is a name of none."""
    records = {
        "cut": json.dumps(GOOD)[:20],
        "empty": "",
        "good": json.dumps(GOOD),
        "lacking": json.dumps({**GOOD, "port": "x", "nodes": None}),
        "No name": json.dumps(GOOD),
    }
    for name, text in records.items():
        (tmp_path / "state" / name).mkdir(parents=True)
        (tmp_path / "state" / name / "cluster.json").write_text(text)
    return tmp_path / "state"


@pytest.fixture
def status(state: Path) -> Status:
    return lambda *options: subprocess.run(
        [sys.executable, "-m", "modelyard", "local", "status", *options],
        env=os.environ | {"MODELYARD_STATE_DIR": str(state)},
        text=True,
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_every_cluster_is_shown_with_what_is_wrong_with_it(state: Path, status: Status) -> None:
    done = status("--all", "-o", "json")
    assert (done.returncode, done.stderr) == (1, "")
    reasons = {each["name"]: each["reason"] for each in json.loads(done.stdout)["clusters"]}
    assert reasons.pop("No name").startswith("a name has 1 to 32")
    assert reasons == {
        "cut": f"{state}/cut/cluster.json is damaged: it holds no JSON object",
        "empty": f"{state}/empty/cluster.json is damaged: it holds no JSON object",
        "good": "the cluster is down",
        "lacking": f"{state}/lacking/cluster.json is damaged: port, nodes must be numbers",
    }


def test_the_text_says_it_too(state: Path, status: Status) -> None:
    done = status("--all")
    assert (done.returncode, done.stderr) == (1, "")
    assert f"cluster cut: not ready: {state}/cut/cluster.json is damaged" in done.stdout
    assert "cluster good: not ready: the cluster is down" in done.stdout


def test_a_damaged_cluster_alone_is_there_and_says_why(state: Path, status: Status) -> None:
    done = status("--name", "cut")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        f"cluster cut: not ready: {state}/cut/cluster.json is damaged: it holds no JSON object",
        "next: modelyard local up --name cut",
    ]


def test_a_cluster_that_is_not_there_is_still_an_error(status: Status) -> None:
    done = status("--name", "none")
    assert done.returncode == 11
    assert "there is no such cluster" in done.stderr
