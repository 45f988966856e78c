"""Commands run as a user runs them: whole processes, timed by the wall clock."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

MODELYARD = Path(sys.executable).with_name("modelyard")
SECONDS = 3600.0


class CommandFailedError(Exception):
    """A command that a figure needs ended badly: the figure would be of something else."""


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    settings: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
) -> tuple[float, bytes]:
    """Run `argv` to its end; return the seconds that it took and what it wrote to stdout.

    Args:
        argv: the command.
        cwd: where; None: here.
        settings: what its environment has beside ours.
        stdin: what it reads; None: nothing.

    Raises:
        CommandFailedError: its exit code is not 0; carries the last of what it said.
    """
    code, seconds, output, said = attempt(argv, cwd=cwd, settings=settings, stdin=stdin)
    if code != 0:
        raise CommandFailedError(f"{' '.join(map(str, argv))} ended with {code}: {said[-2000:]}")
    return seconds, output


def attempt(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    settings: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
) -> tuple[int, float, bytes, str]:
    """Run `argv` to its end; return its exit code, the seconds, its stdout and its stderr."""
    began = time.monotonic()
    done = subprocess.run(
        list(argv),
        cwd=cwd,
        env=os.environ | (settings or {}),
        input=stdin if stdin is not None else b"",
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, time.monotonic() - began, done.stdout, done.stderr.decode(errors="replace")


def repeat(
    argv: Sequence[str | Path], runs: int, *, cwd: Path | None = None, settings: Mapping[str, str] | None = None
) -> tuple[float, ...]:
    """Return the seconds of each of `runs` runs of `argv`, after one that warms the caches and does not count."""
    run(argv, cwd=cwd, settings=settings)
    return tuple(run(argv, cwd=cwd, settings=settings)[0] for _ in range(runs))
