"""Files of tests that run beside others, and files that disturb all others and so run alone (`alone` in pytest.ini).

With --jobs, tests run in several processes, which know nothing of each other. They lock two files that every run can
read, so nothing is written: who wants to run takes the turnstile first. A file that must be alone keeps it until all
others have left the room; nobody overtakes it.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# As long as the longest files take that are at work when one wants to be alone, or when one is.
SECONDS = 3600.0
EVERY_SECONDS = 0.1


@contextmanager
def room(turnstile: Path, floor: Path, *, alone: bool, seconds: float = SECONDS) -> Iterator[None]:
    """Be in the room: with others, or alone.

    Args:
        turnstile: a file through whose lock all go in.
        floor: a file whose lock all share who are in.
        alone: wait until nobody else is in, and let nobody in.
        seconds: how long to wait.

    Raises:
        AssertionError: others are still in after so long.
    """
    deadline = time.monotonic() + seconds
    with turnstile.open("rb") as gate, floor.open("rb") as inside:
        _lock(gate.fileno(), fcntl.LOCK_EX, deadline)
        _lock(inside.fileno(), fcntl.LOCK_EX if alone else fcntl.LOCK_SH, deadline)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield  # closing a file gives its lock back


def _lock(descriptor: int, how: int, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise AssertionError("other files of this suite are still at work, and this one cannot begin") from None
            time.sleep(EVERY_SECONDS)
