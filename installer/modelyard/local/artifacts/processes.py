"""Child processes that a Ctrl-C can end: a compile goes on for minutes if nobody stops it."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path


class Children:
    """The children of one owner, who may end them all; others' are left alone."""

    def __init__(self) -> None:
        self._stopped = False
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()

    def run(
        self, command: Sequence[str | Path], *, cwd: Path | str | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run `command` to its end and return its exit code and what it printed, as text.

        After `stop` it is terminated at once.
        """
        with subprocess.Popen(
            command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            with self._lock:
                self._running.add(process)
                if self._stopped:
                    process.terminate()
            try:
                stdout, stderr = process.communicate()
            finally:
                with self._lock:
                    self._running.discard(process)
        return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)

    def stop(self) -> None:
        """Ask every child to end, those that begin later too."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.terminate()
