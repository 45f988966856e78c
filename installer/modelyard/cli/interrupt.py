"""Ctrl-C: the first stops cleanly, the second at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130


@contextmanager
def installed() -> Iterator[None]:
    """Handle SIGINT and SIGTERM while inside."""
    seen = 0

    def handle(signum: int, frame: FrameType | None) -> None:
        nonlocal seen
        seen += 1
        if seen > 1:
            os._exit(INTERRUPTED)
        sys.stderr.write("\nstopping at the next safe point; once more to stop at once\n")
        raise KeyboardInterrupt

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
