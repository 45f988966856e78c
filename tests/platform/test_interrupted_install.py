"""`modelyard install` of the whole platform, ended on its way: the next one goes on where it was, to the end.

On the embedded cluster $MODELYARD_NAME, made anew for each point, with the command $MODELYARD (a wheel's, in
`make test`). The last install is left to be finished by the next step; the others are finished here.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from events_file import Follower

STOP_SECONDS = 60.0
LONG = pytest.mark.long
Reached = Callable[[list[dict[str, object]]], bool]


def begun(key: str) -> Reached:
    """Return what tells whether the step `key` has begun."""
    return lambda events: any(event["event"] == "StepStarted" and event["key"] == key for event in events)


def installed(count: int) -> Reached:
    """Return what tells whether `count` components are ready."""
    return lambda events: (
        sum(event["event"] == "StepDone" and str(event["key"]).startswith("install:") for event in events) >= count
    )


@pytest.mark.platform
@pytest.mark.parametrize(
    ("reached", "number", "code"),
    [
        pytest.param(begun("cluster:start"), signal.SIGINT, 130, id="ctrl-c-while-the-cluster-starts"),
        pytest.param(begun("install:cert-manager"), signal.SIGKILL, -9, id="kill-9-as-it-begins"),
        pytest.param(installed(1), signal.SIGKILL, -9, id="kill-9-after-one-component"),
        pytest.param(installed(2), signal.SIGINT, 130, id="ctrl-c-after-two-components"),
        pytest.param(installed(6), signal.SIGKILL, -9, id="kill-9-after-six-components"),
        pytest.param(installed(9), signal.SIGKILL, -9, id="kill-9-after-nine-components"),
    ],
)
@LONG
def test_an_install_that_was_ended_is_finished_by_the_next(
    reached: Reached, number: signal.Signals, code: int, tmp_path: Path
) -> None:
    _end_one(reached, number, code, tmp_path)
    done = _modelyard("install")
    assert done.returncode == 0, done.stderr
    state = _modelyard("status")
    assert state.returncode == 0, state.stdout + state.stderr


@pytest.mark.platform
def test_an_install_can_be_killed_half_way(tmp_path: Path) -> None:
    """What it leaves is the next step's, as in a newcomer's terminal: another command, from another place."""
    _end_one(installed(4), signal.SIGKILL, -9, tmp_path)


def _end_one(reached: Reached, number: signal.Signals, code: int, tmp_path: Path) -> None:
    """End an install of a cluster that is not there yet by a signal, once its events show that it is `reached`."""
    _modelyard("local", "down", "--delete")
    events = tmp_path / "events"
    with (tmp_path / "said").open("w+") as said:
        process = subprocess.Popen(
            _command("install"), stderr=said, env={**_environment(), "MODELYARD_EVENTS": str(events)}, cwd="/"
        )
        try:
            Follower(events).until(reached, process, seconds=1800)  # with an empty cache it compiles
            process.send_signal(number)
            ended = process.wait(STOP_SECONDS)
        finally:
            process.kill()
        said.seek(0)
        text = said.read()
    assert ended == code, text
    assert number != signal.SIGINT or "the same command again goes on where it was" in text
    assert "Traceback" not in text


def _modelyard(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(*words), env=_environment(), cwd="/", capture_output=True, text=True, timeout=1800, check=False
    )


def _command(*words: str) -> list[str]:
    return [os.environ["MODELYARD"], *words, "--name", os.environ["MODELYARD_NAME"]]


def _environment() -> dict[str, str]:
    """Return the environment without this test run's state folder: the platform is no cluster of it."""
    return {name: value for name, value in os.environ.items() if name != "MODELYARD_STATE_DIR"}
