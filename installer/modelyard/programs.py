"""Other programs, run to their end: each with a deadline, and one sentence on why it failed.

Not for a program that gets the terminal, or that goes on after this one: `modelyard conformance`, a command on a node,
a cluster's supervisor.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Tell = Callable[[str], None]

# A compile of the largest binary takes 6 minutes on two idle cores.
LONGEST_SECONDS = 7200.0
_CANNOT_START = 127  # as a shell says it


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    Args:
        command: its name.
        code: its exit code, negative for a signal; 127 where it could not be started.
        stdout: what it printed.
        stderr: its errors as text; where it could not be started or took too long, the last line says so.
    """

    command: str
    code: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        """What it printed, as text."""
        return self.stdout.decode(errors="replace")

    @property
    def problem(self) -> str:
        """Why it failed: the last line of its errors, else its exit code; empty where it did not fail."""
        if self.code == 0:
            return ""
        lines = self.stderr.strip().splitlines()
        return lines[-1].strip() if lines else f"{self.command} ended with {self.code}, without a message"


class Children:
    """The programs of one owner, who may end them all; others' are left alone."""

    def __init__(self) -> None:
        self._stopped = False
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    def run(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | None = None,
        tell: Tell | None = None,
        seconds: float = LONGEST_SECONDS,
    ) -> Ended:
        """Run `command` to its end. After `stop` it is terminated at once.

        Args:
            command: the program and its arguments.
            cwd: where it runs.
            env: its environment.
            stdin: what it reads; None for nothing.
            tell: takes each line of its standard error as it comes, from a thread of its own.
            seconds: how long it may take; it is killed then.
        """
        name = Path(command[0]).name
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                command, cwd=cwd, env=env, stdin=subprocess.DEVNULL if stdin is None else pipe, stdout=pipe, stderr=pipe
            )
        except OSError as error:
            return Ended(name, _CANNOT_START, b"", f"{name}: {error.strerror or error}\n")
        deadline = _Deadline(process, seconds)
        with process, self._mine(process), deadline:
            stdout, stderr = _outputs(process, stdin, tell)
        words = stderr.decode(errors="replace")
        if deadline.passed:
            words = f"{words.rstrip()}\n{name} was ended: it took more than {seconds:g} s\n".lstrip()
        return Ended(name, process.returncode, stdout, words)

    def stop(self) -> None:
        """Ask every child to end, those that begin later too."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.terminate()

    @contextlib.contextmanager
    def _mine(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        with self._lock:
            self._running.add(process)
            if self._stopped:
                process.terminate()
        try:
            yield
        except BaseException:  # Ctrl-C: nobody would read what it prints
            process.kill()
            process.wait()
            raise
        finally:
            with self._lock:
                self._running.discard(process)


def run(
    command: Sequence[str | Path],
    *,
    seconds: float,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
) -> Ended:
    """Run `command` to its end, with nobody who may end it before; see `Children.run`."""
    return Children().run(command, cwd=cwd, env=env, stdin=stdin, seconds=seconds)


class _Deadline:
    """Kills a process that takes too long."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self.passed = False
        self._process = process
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        self.passed = True
        self._process.kill()


def _outputs(process: subprocess.Popen[bytes], stdin: str | None, tell: Tell | None) -> tuple[bytes, bytes]:
    """Return both streams whole; `tell` takes the lines of standard error one by one."""
    if tell is None:
        return process.communicate(None if stdin is None else stdin.encode())
    assert process.stdout is not None
    assert process.stderr is not None
    lines: list[bytes] = []

    def follow(stream: Iterable[bytes], tell: Tell = tell) -> None:
        for line in stream:
            lines.append(line)
            tell(line.decode(errors="replace").rstrip())

    follower = threading.Thread(target=follow, args=(process.stderr,), daemon=True)
    follower.start()
    stdout = process.stdout.read()
    follower.join()
    process.wait()
    return stdout, b"".join(lines)
