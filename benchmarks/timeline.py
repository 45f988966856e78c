"""A command's steps, from the events that it writes to the file $MODELYARD_EVENTS names: one JSON object a line."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commands import CommandFailedError

VARIABLE = "MODELYARD_EVENTS"


@dataclass(frozen=True, slots=True)
class Step:
    """A step that ended well: seconds from the command's start to its begin and its end."""

    key: str
    title: str
    begin: float
    end: float

    @property
    def seconds(self) -> float:
        """Return how long it took."""
        return self.end - self.begin

    @property
    def lane(self) -> str:
        """Return what kind of step it is: what stands before the colon in its key."""
        return self.key.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Told:
    """What a command told: its steps in the order in which they ended, and the seconds to its own end."""

    steps: tuple[Step, ...]
    seconds: float

    def end_of(self, key: str) -> float:
        """Return when the step `key` ended; LookupError where there was none."""
        for step in self.steps:
            if step.key == key:
                return step.end
        raise LookupError(f"no step {key} among {[step.key for step in self.steps]}")


def watch(argv: Sequence[str | Path], settings: Mapping[str, str], scratch: Path) -> Told:
    """Run `argv`; return its steps. What it says and its events are kept in the folder `scratch`.

    Raises:
        CommandFailedError: its exit code is not 0.
    """
    events, log = scratch / "events.jsonl", scratch / "command.log"
    events.unlink(missing_ok=True)
    started, began = time.time(), time.monotonic()
    with log.open("w", encoding="utf-8") as kept:
        done = subprocess.run(
            list(argv),
            env=os.environ | settings | {VARIABLE: str(events)},
            stdin=subprocess.DEVNULL,
            stdout=kept,
            stderr=subprocess.STDOUT,
            check=False,
        )
    seconds = time.monotonic() - began
    if done.returncode != 0:
        raise CommandFailedError(f"{' '.join(map(str, argv))} ended with {done.returncode}: {log.read_text()[-2000:]}")
    return Told(tuple(steps(events.read_text(encoding="utf-8").splitlines(), started)), seconds)


def steps(lines: Iterable[str], started: float) -> list[Step]:
    """Return the steps that ended well among the events in `lines`; `started` is in seconds since 1970. Pure."""
    titles: dict[str, str] = {}
    found = []
    for event in map(json.loads, lines):
        if event["event"] == "StepStarted":
            titles[event["key"]] = event["title"]
        elif event["event"] == "StepDone":
            end = event["t"] - started
            key = event["key"]
            found.append(Step(key, titles.get(key, key), max(0.0, end - event["seconds"]), end))
    return found
