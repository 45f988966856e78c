"""Child processes that a Ctrl-C can end: a compile goes on for minutes if nobody stops it."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

Tell = Callable[[str], None]


# A compile of the largest binary takes 6 minutes on two idle cores.
LONGEST_SECONDS = 7200.0


class Children:
    """The children of one owner, who may end them all; others' are left alone."""

    def __init__(self) -> None:
        self._stopped = False
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()

    def run(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        tell: Tell | None = None,
        seconds: float = LONGEST_SECONDS,
    ) -> subprocess.CompletedProcess[str]:
        """Run `command` to its end and return its exit code and what it printed, as text.

        After `stop` it is terminated at once. One that took too long says so in the last line of its errors.

        Args:
            command: the program and its arguments.
            cwd: where it runs.
            env: its environment.
            tell: takes each line of its standard error as it comes, from a thread of its own.
            seconds: how long it may take.
        """
        started = time.monotonic()
        with subprocess.Popen(
            command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            with self._lock:
                self._running.add(process)
                if self._stopped:
                    process.terminate()
            late = threading.Timer(seconds, process.kill)
            late.daemon = True
            late.start()
            try:
                stdout, stderr = process.communicate() if tell is None else _told(process, tell)
            finally:
                late.cancel()
                with self._lock:
                    self._running.discard(process)
        if process.returncode == -signal.SIGKILL and time.monotonic() - started >= seconds:
            stderr = f"{stderr.rstrip()}\n{Path(command[0]).name} was ended: it took more than {seconds:g} s\n".lstrip()
        return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)

    def stop(self) -> None:
        """Ask every child to end, those that begin later too."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.terminate()


def _told(process: subprocess.Popen[str], tell: Tell) -> tuple[str, str]:
    """Return both streams whole, the lines of standard error also one by one."""
    assert process.stdout is not None
    assert process.stderr is not None
    lines: list[str] = []

    def follow(stream: Iterable[str]) -> None:
        for line in stream:
            lines.append(line)
            tell(line.rstrip())

    follower = threading.Thread(target=follow, args=(process.stderr,), daemon=True)
    follower.start()
    stdout = process.stdout.read()
    follower.join()
    process.wait()
    return stdout, "".join(lines)
