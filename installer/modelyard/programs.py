"""Other programs, run to their end: each with a deadline, and one sentence on why it failed.

Not for a program that gets the terminal, or that goes on after this one: `modelyard conformance`, a command on a node,
a cluster's supervisor.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

Tell = Callable[[str], None]

# A compile of the largest binary takes 6 minutes on two idle cores.
LONGEST_SECONDS = 7200.0
_GRACE_SECONDS = 10.0  # for a program that was asked to end, and for pipes that its own children keep
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
        tell: Tell | None = None,
        seconds: float = LONGEST_SECONDS,
    ) -> Ended:
        """Run `command` to its end; it reads nothing. After `stop` it is terminated at once.

        Args:
            command: the program and its arguments.
            cwd: where it runs.
            env: its environment.
            tell: takes each line of its standard error as it comes, from a thread of its own.
            seconds: how long it may take; it is killed then.
        """
        started = _started(command, cwd, env, subprocess.DEVNULL)
        if isinstance(started, Ended):
            return started
        with self._mine(started):
            return _followed(started, tell or (lambda line: None), seconds)

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
            with _ended_on_interrupt(process):
                yield
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
    finish: bool = False,
) -> Ended:
    """Run `command` to its end.

    Args:
        command: the program and its arguments.
        seconds: how long it may take; it is killed then.
        cwd: where it runs.
        env: its environment.
        stdin: what it reads; None for nothing.
        finish: on Ctrl-C wait for its end, as it must not be ended half-way.
    """
    started = _started(command, cwd, env, subprocess.DEVNULL if stdin is None else subprocess.PIPE)
    if isinstance(started, Ended):
        return started
    with _ended_on_interrupt(started, finish=finish):
        return _communicated(started, stdin, seconds)


def _started(
    command: Sequence[str | Path], cwd: Path | str | None, env: Mapping[str, str] | None, stdin: int
) -> subprocess.Popen[bytes] | Ended:
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(command, cwd=cwd, env=env, stdin=stdin, stdout=pipe, stderr=pipe)
    except OSError as error:
        name = Path(command[0]).name
        return Ended(name, _CANNOT_START, b"", f"{name}: {error.strerror or error}\n")


@contextlib.contextmanager
def _ended_on_interrupt(process: subprocess.Popen[bytes], *, finish: bool = False) -> Iterator[None]:
    """End a program where this one is interrupted: nobody would read what it prints."""
    try:
        yield
    except BaseException:
        if not finish:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_SECONDS)
            process.kill()
        process.wait()
        raise


def _communicated(process: subprocess.Popen[bytes], stdin: str | None, seconds: float) -> Ended:
    late = False
    try:
        stdout, stderr = process.communicate(None if stdin is None else stdin.encode(), timeout=seconds)
    except subprocess.TimeoutExpired:
        late = True
        process.kill()
        try:
            stdout, stderr = process.communicate(timeout=_GRACE_SECONDS)
        except subprocess.TimeoutExpired as error:  # a program of its own goes on, and keeps the pipes
            stdout, stderr = error.stdout or b"", error.stderr or b""
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
    return _ended(process, stdout, stderr, seconds if late else None)


def _followed(process: subprocess.Popen[bytes], tell: Tell, seconds: float) -> Ended:
    """Read both streams in threads: one that a program's own child keeps open must not hold this one up."""
    out, errors = _Reader(process.stdout, lambda line: None), _Reader(process.stderr, tell)
    late = False
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        late = True
        process.kill()
        process.wait()
    return _ended(process, out.all(), errors.all(), seconds if late else None)


class _Reader:
    """Reads a stream line by line in a thread, and tells each."""

    def __init__(self, stream: IO[bytes] | None, tell: Tell) -> None:
        self._lines: list[bytes] = []
        self._thread = threading.Thread(target=self._read, args=(stream, tell), daemon=True)
        self._thread.start()

    def all(self) -> bytes:
        """Return what came, once the stream has ended, or nothing more is to be waited for."""
        self._thread.join(_GRACE_SECONDS)
        return b"".join(self._lines)

    def _read(self, stream: IO[bytes] | None, tell: Tell) -> None:
        assert stream is not None
        with stream:
            for line in stream:
                self._lines.append(line)
                with contextlib.suppress(Exception):  # whoever is told fails: the program still must not be held up
                    tell(line.decode(errors="replace").rstrip())


def _ended(process: subprocess.Popen[bytes], stdout: bytes, stderr: bytes, late: float | None) -> Ended:
    assert isinstance(process.args, Sequence)
    name, words = Path(str(process.args[0])).name, stderr.decode(errors="replace")
    if late is not None:
        words = f"{words.rstrip()}\n{name} was ended: it took more than {late:g} s\n".lstrip()
    return Ended(name, process.returncode, stdout, words)
