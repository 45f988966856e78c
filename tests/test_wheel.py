"""The wheel is complete: installed somewhere else, it renders what the clone renders."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from modelyard.paths import data_root

ROOT = data_root()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [built] = out.glob("modelyard-*.whl")
    return built


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that has the wheel, and from the clone's environment only its dependencies."""
    home = tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "venv"], check=True)
    [site] = (home / "venv" / "lib").glob("python3.*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    [ours] = [path for path in sys.path if path.endswith("site-packages")]
    # sitecustomize, not a .pth: the clone's own .pth (the editable install) must not be read
    (site / "sitecustomize.py").write_text(f"import sys; sys.path.append({ours!r})\n")
    return home


def run(elsewhere: Path, *arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MODELYARD_ROOT")}
    done = subprocess.run(
        [elsewhere / "venv/bin/python", "-m", "modelyard", *arguments],
        cwd=elsewhere,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_package_runs_from_where_it_is_installed(elsewhere: Path) -> None:
    code = "import modelyard, modelyard.paths; print(modelyard.__file__); print(modelyard.paths.data_root())"
    done = subprocess.run(
        [elsewhere / "venv/bin/python", "-c", code], cwd=elsewhere, capture_output=True, text=True, check=True
    )
    package, data = done.stdout.splitlines()
    assert Path(package).is_relative_to(elsewhere)
    assert Path(data).is_relative_to(elsewhere)


def test_the_wheel_renders_what_the_clone_renders(elsewhere: Path) -> None:
    ours = subprocess.run(
        [sys.executable, "-m", "modelyard", "render", "--target", "local"], capture_output=True, text=True, check=True
    )
    assert run(elsewhere, "render", "--target", "local") == ours.stdout


def test_the_wheel_carries_what_the_embedded_cluster_is_built_from(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    tracked = subprocess.run(
        ["git", "ls-files", "installer/modelyard", "manifests", "overlays", "conformance", "examples", "upstream.lock"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    expected = {
        path.removeprefix("installer/") if path.startswith("installer/") else f"modelyard/_data/{path}"
        for path in tracked
    }
    assert expected - names == set()
