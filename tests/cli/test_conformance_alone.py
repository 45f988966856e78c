"""Conformance tests that disturb all others run alone, whatever runs beside them."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from conformance.support.alone import room

SOON = 0.3  # a wait that is expected to fail
CLONE = Path(__file__).resolve().parents[2]

# A suite of one file whose tests share something that is at work before the first of them.
SUITE = {
    "pytest.ini": "[pytest]\nmarkers = alone\n",
    "conftest.py": """
from pathlib import Path
import conformance.conftest
conformance.conftest.HERE = Path(__file__).parent
place = conformance.conftest.place
""",
    "test_shared.py": """
from pathlib import Path
import pytest
from conformance.support.alone import room

def may_disturb():
    here = Path(__file__).parent
    try:
        with room(here / "pytest.ini", here / "conftest.py", alone=True, seconds=0):
            return True
    except AssertionError:
        return False

@pytest.fixture(scope="module")
def shared():
    before = may_disturb()
    yield before
    assert not may_disturb()

def test_first(shared):
    assert not shared

def test_last(shared):
    assert not may_disturb()
""",
}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    files = tmp_path / "turnstile", tmp_path / "floor"
    for file in files:
        file.touch()
    return files


def test_others_are_in_together(files: tuple[Path, Path]) -> None:
    with room(*files, alone=False), room(*files, alone=False, seconds=0):
        pass


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True), (True, True)])
def test_who_is_alone_is_alone(first: bool, second: bool, files: tuple[Path, Path]) -> None:
    busy = pytest.raises(AssertionError, match="still at work")
    with room(*files, alone=first), busy, room(*files, alone=second, seconds=SOON):
        pass
    with room(*files, alone=second, seconds=0):
        pass


def test_nobody_overtakes_who_waits_to_be_alone(files: tuple[Path, Path]) -> None:
    entered, leave = Event(), Event()

    def be_alone() -> None:
        with room(*files, alone=True):
            entered.set()
            leave.wait()

    with ThreadPoolExecutor(1) as pool:
        with room(*files, alone=False):
            waiting: Future[None] = pool.submit(be_alone)
            _wait_until_somebody_waits(files)
            assert not entered.is_set()
        assert entered.wait(timeout=30)
        leave.set()
        waiting.result(timeout=30)


def test_what_a_file_shares_is_never_at_work_beside_who_is_alone(tmp_path: Path) -> None:
    for name, text in SUITE.items():
        (tmp_path / name).write_text(text)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        f"pythonpath={CLONE}",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "2 passed" in done.stdout and done.returncode == 0, done.stdout


def _wait_until_somebody_waits(files: tuple[Path, Path]) -> None:
    for _ in range(100):
        try:
            with room(*files, alone=False, seconds=0):
                Event().wait(0.05)
        except AssertionError:
            return
    pytest.fail("nobody waits")
