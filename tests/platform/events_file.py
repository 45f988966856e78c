"""Follows the file of events that a command writes ($MODELYARD_EVENTS)."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path


class Follower:
    """Reads the events as they come.

    Args:
        file: the file; it need not be there yet.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def until(
        self, reached: Callable[[list[dict[str, object]]], bool], process: subprocess.Popen[bytes], *, seconds: float
    ) -> None:
        """Wait until `reached` is true of all events so far, while `process` runs."""
        deadline = time.monotonic() + seconds
        while not reached(events := self._events()):
            last = events[-1] if events else "no event"
            assert process.poll() is None, f"the command ended with {process.returncode} before; last: {last}"
            assert time.monotonic() < deadline, f"not after {seconds:g} s; last: {last}"
            time.sleep(0.05)

    def _events(self) -> list[dict[str, object]]:
        text = self._file.read_text() if self._file.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
