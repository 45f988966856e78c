"""What a run takes of the machine: disk of folders, and the most memory while it lasted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commands import run

LOOK_SECONDS = 1.0


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


def _available_gib() -> float:
    lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    [available] = [int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    return available / 2**20
