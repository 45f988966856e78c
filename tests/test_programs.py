"""Programs that are run: each has a deadline, and one sentence on why it failed."""

from __future__ import annotations

import ast
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from modelyard import programs
from modelyard.errors import LocalClusterError
from modelyard.local.node import enter
from modelyard.programs import Children, run

PACKAGE = Path(programs.__file__).parent
# A program that gets the terminal, or outlives the command: for those there is no end to wait for.
APART = {"programs.py", "platform/conform.py", "local/node/enter.py", "local/supervisor/launch.py"}


@pytest.mark.parametrize("follow", [False, True])
def test_program_that_takes_too_long_is_ended_and_says_so(follow: bool) -> None:
    told: list[str] = []
    done = Children().run(["sleep", "60"], seconds=0.1, tell=told.append if follow else None)
    assert done.code == -signal.SIGKILL
    assert done.problem == "sleep was ended: it took more than 0.1 s"


def test_what_it_said_before_stays_the_first_lines() -> None:
    done = run(["bash", "-c", "echo why >&2; exec sleep 60"], seconds=0.5)
    assert done.stderr.splitlines()[0] == "why"
    assert "took more than" in done.problem


def test_last_line_of_its_errors_is_the_problem() -> None:
    done = run(["bash", "-c", "echo out; echo first >&2; echo why >&2; exit 3"], seconds=60)
    assert (done.code, done.text, done.stderr, done.problem) == (3, "out\n", "first\nwhy\n", "why")


def test_program_that_says_nothing_is_told_by_its_exit_code() -> None:
    assert run(["bash", "-c", "exit 3"], seconds=60).problem == "bash ended with 3, without a message"


def test_program_that_ends_well_has_no_problem_whatever_it_says() -> None:
    assert run(["bash", "-c", "echo a warning >&2"], seconds=60).problem == ""


def test_program_that_the_machine_lacks_is_named() -> None:
    done = run(["/nowhere/kustomize", "build"], seconds=60)
    assert (done.code, done.problem) == (127, "kustomize: No such file or directory")


def test_it_reads_what_it_is_given_and_else_nothing() -> None:
    assert run(["cat"], stdin="some text", seconds=60).text == "some text"
    assert run(["cat"], seconds=60).text == ""


def test_output_that_is_no_text_stays_as_it_is() -> None:
    assert run(["printf", "\\377"], seconds=60).stdout == b"\xff"


def test_lines_of_its_errors_are_told_as_they_come() -> None:
    came = threading.Event()
    children = Children()
    thread = threading.Thread(
        target=children.run,
        args=(["bash", "-c", "echo here >&2; exec sleep 60"],),
        kwargs={"tell": lambda line: came.set() if line == "here" else None},
    )
    thread.start()
    assert came.wait(30)
    children.stop()
    thread.join(30)
    assert not thread.is_alive()


@pytest.mark.parametrize("follow", [False, True])
def test_program_whose_own_child_keeps_the_pipes_does_not_hold_this_one_up(
    follow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git is ended, and what it started to fetch with waits on for the network."""
    monkeypatch.setattr(programs, "_GRACE_SECONDS", 0.5)
    began = time.monotonic()
    command = ["bash", "-c", "echo first >&2; sleep 20 & wait"]
    done = Children().run(command, seconds=0.5) if follow else run(command, seconds=0.5)
    assert time.monotonic() - began < 15
    assert done.stderr.splitlines() == ["first", "bash was ended: it took more than 0.5 s"]


def test_who_is_told_and_fails_does_not_stop_the_program() -> None:
    def fail(line: str) -> None:
        raise ValueError(line)

    done = Children().run(["bash", "-c", "for i in $(seq 20000); do echo $i >&2; done"], tell=fail, seconds=60)
    assert (done.code, done.stderr.splitlines()[-1]) == (0, "20000")


def test_owner_that_stopped_starts_nothing_that_goes_on() -> None:
    children = Children()
    children.stop()
    assert children.run(["sleep", "60"], seconds=60).code == -signal.SIGTERM


def test_interrupted_command_leaves_no_program_behind(tmp_path: Path) -> None:
    """As Ctrl-C does it: the exception comes while the program runs."""
    number = tmp_path / "pid"

    def interrupt() -> None:
        deadline = time.monotonic() + 30
        while not (number.exists() and number.read_text()) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        threading.Thread(target=interrupt).start()
        run(["bash", "-c", f"echo $$ > {number}; exec sleep 60"], seconds=60)
    assert not Path(f"/proc/{number.read_text().strip()}").exists()


def test_command_inside_a_cluster_that_takes_too_long_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enter, "enter_prefix", lambda name, node: ["env"])  # this machine stands for the node
    with pytest.raises(LocalClusterError, match=r"sleep on node-1 of cluster dev: it did not end in 0.1 s"):
        enter.exec_in("dev", "node-1", ["sleep", "60"], seconds=0.1)


def test_programs_are_run_in_one_place() -> None:
    importing = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Import) and any(name.name == "subprocess" for name in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "subprocess")
        or (isinstance(node, ast.Attribute) and node.attr in ("system", "popen") and ast.unparse(node.value) == "os")
    }
    assert importing == APART
