"""`modelyard conformance`: which tests run, what its exit codes mean, its reports; on suites made for the purpose."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from modelyard.local import ClusterInfo
from modelyard.paths import data_root

PASSES = "def test_passes(session): assert session.check().startswith('v')"
FAILS = "def test_fails(): assert 1 == 2"
SKIPS = "import pytest\n@pytest.mark.skip\ndef test_skips(): pass"
BROKEN = "import no_such_module"
# Says where it is; what a test has made must go also when it is stopped.
LONG = """
import pathlib, time, pytest
HERE = pathlib.Path(__file__).parent

@pytest.fixture
def made():
    (HERE / "made").touch()
    yield
    (HERE / "made").rename(HERE / "removed")

def test_long(made):
    time.sleep(300)
"""

Suite = Callable[..., Path]


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """Makes a suite with the real one's fixtures and hooks, and with areas of the test's own."""
    real = data_root()
    for name in ("manifests", "overlays", "upstream.lock"):
        (tmp_path / name).symlink_to(real / name)
    copied = tmp_path / "conformance"
    for package in ("proof", "support"):
        shutil.copytree(real / "conformance" / package, copied / package)
    for name in ("__init__.py", "conftest.py", "pytest.ini"):
        shutil.copy(real / "conformance" / name, copied)

    def make(**areas: str) -> Path:
        for area, source in areas.items():
            (copied / area).mkdir()
            (copied / area / f"test_{area}.py").write_text(source)
        return tmp_path

    return make


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "modelyard", "conformance", *map(str, arguments)]


def run(root: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        env=os.environ | {"MODELYARD_ROOT": str(root)} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_an_unknown_area_is_refused_with_the_nearest_name(suite: Suite, tmp_path: Path) -> None:
    done = run(suite(queue=PASSES), "--area", "quueue", "--kubeconfig", tmp_path / "none")
    assert done.returncode == 2
    assert "did you mean queue?" in done.stderr


def test_without_a_cluster_it_could_not_run(suite: Suite, tmp_path: Path) -> None:
    done = run(suite(queue=PASSES), "--kubeconfig", tmp_path / "none")
    assert done.returncode == 2
    assert "is not there" in done.stderr


def test_success_and_both_reports(suite: Suite, cluster: ClusterInfo, tmp_path: Path) -> None:
    junit, html = tmp_path / "junit.xml", tmp_path / "report.html"
    done = run(suite(queue=PASSES), "--kubeconfig", cluster.kubeconfig, "--junit", junit, "--html", html)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'name="test_passes"' in junit.read_text()
    assert "test_passes" in html.read_text()


def test_a_failed_test_is_a_failure_and_other_areas_are_left_out(suite: Suite, cluster: ClusterInfo) -> None:
    root = suite(good=PASSES, bad=FAILS)
    assert run(root, "--kubeconfig", cluster.kubeconfig).returncode == 1
    assert run(root, "--kubeconfig", cluster.kubeconfig, "--area", "good").returncode == 0


def test_callers_pytest_settings_do_not_matter(suite: Suite, cluster: ClusterInfo) -> None:
    done = run(suite(bad=FAILS), "--kubeconfig", cluster.kubeconfig, PYTEST_ADDOPTS="--collect-only")
    assert done.returncode == 1


@pytest.mark.parametrize("source", [SKIPS, BROKEN], ids=["all skipped", "cannot be imported"])
def test_a_suite_that_proves_nothing_could_not_run(suite: Suite, cluster: ClusterInfo, source: str) -> None:
    done = run(suite(queue=source), "--kubeconfig", cluster.kubeconfig)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith("error: the conformance suite: ")


def test_ctrl_c_lets_the_running_test_clean_up(suite: Suite, cluster: ClusterInfo) -> None:
    root = suite(long=LONG)
    area = root / "conformance" / "long"
    child = subprocess.Popen(
        command("--kubeconfig", cluster.kubeconfig),
        env=os.environ | {"MODELYARD_ROOT": str(root)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _wait_for(area / "made", child)
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=60) == 130
    assert (area / "removed").exists()


def _wait_for(path: Path, child: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert child.poll() is None, f"it ended with {child.returncode} before {path.name} was there"
        assert time.monotonic() < deadline, f"{path.name} did not come"
        time.sleep(0.05)
