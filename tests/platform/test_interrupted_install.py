"""`modelyard install` of the whole platform, ended on its way again and again: the next one goes on where it was.

On the embedded cluster $MODELYARD_NAME, with the command $MODELYARD (a wheel's, in `make test`); the last install is
left to be finished by the next step.
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
        pytest.param(begun("cluster:start"), signal.SIGINT, 130, id="ctrl-c-while-the-cluster-starts", marks=LONG),
        pytest.param(begun("install:cert-manager"), signal.SIGKILL, -9, id="kill-9-as-it-begins", marks=LONG),
        pytest.param(installed(2), signal.SIGINT, 130, id="ctrl-c-after-two-components", marks=LONG),
        pytest.param(installed(4), signal.SIGKILL, -9, id="kill-9-after-four-components"),
        *(
            pytest.param(installed(count), signal.SIGKILL, -9, id=f"kill-9-after-{count}", marks=LONG)
            for count in range(1, 10)
        ),
    ],
)
def test_an_install_can_be_ended_at_any_point(
    reached: Reached, number: signal.Signals, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MODELYARD_STATE_DIR", raising=False)  # the platform is no cluster of this test run
    events = tmp_path / "events"
    command = [os.environ["MODELYARD"], "install", "--name", os.environ["MODELYARD_NAME"]]
    with (tmp_path / "said").open("w+") as said:
        process = subprocess.Popen(command, stderr=said, env={**os.environ, "MODELYARD_EVENTS": str(events)}, cwd="/")
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
