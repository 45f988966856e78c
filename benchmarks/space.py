"""What a run takes of the machine: disk of folders, and the most memory while it lasted."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commands import CommandFailedError, run
from benchmarks.processes import resident_mib

LOOK_SECONDS = 1.0
# Commands that take seconds have their most memory for a fraction of one.
LOOK_CLOSELY_SECONDS = 0.02


def disk_gib(folder: Path) -> float:
    """Return the disk that `folder` takes, in GiB."""
    _, output = run(["du", "--summarize", "--block-size=1", folder])
    return int(output.split()[0]) / 2**30


@dataclass(slots=True)
class Memory:
    """Memory of the whole machine in use beyond what was at the begin: the most, in GiB."""

    most: float = 0.0


@contextmanager
def watched_memory() -> Iterator[Memory]:
    """Look at the machine's memory once a second until the block ends; what the kernel can give back is not in use."""
    memory, over = Memory(), threading.Event()
    begin = _available_gib()

    def look() -> None:
        while not over.wait(LOOK_SECONDS):
            memory.most = max(memory.most, begin - _available_gib())

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        over.set()
        thread.join()


def most_resident_mib(argv: Sequence[str | Path], *, cwd: Path | None, settings: Mapping[str, str]) -> float:
    """Run `argv` to its end; return the most resident memory, in MiB, of it and all that it starts.

    Args:
        argv: the command.
        cwd: where; None: here.
        settings: what its environment has beside ours.

    Raises:
        CommandFailedError: its exit code is not 0.
    """
    with subprocess.Popen(
        list(argv), cwd=cwd, env=os.environ | dict(settings), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        most = 0.0
        while process.poll() is None:
            most = max(most, resident_mib(process.pid))
            time.sleep(LOOK_CLOSELY_SECONDS)
    if process.returncode != 0:
        raise CommandFailedError(f"{' '.join(map(str, argv))} ended with {process.returncode}")
    return most


def _available_gib() -> float:
    lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    [available] = [int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    return available / 2**20
