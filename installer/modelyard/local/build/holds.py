"""Which entries of the cache a process uses: held until it ends, however it ends, and never removed meanwhile."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_held: dict[Path, int] = {}
_lock = threading.Lock()


def hold(mark: Path) -> bool:
    """Hold what `mark` stands for, a file of it, until this process ends; tell whether that could be done.

    It cannot where there is no such file, or where somebody is removing it just now.
    """
    with _lock:
        if (handle := _held.get(mark)) is not None and _is_still(mark, handle):
            return True
        with suppress(OSError):
            handle = os.open(mark, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
                if _is_still(mark, handle):
                    _release(mark)
                    _held[mark] = handle
                    return True
            except BlockingIOError:
                pass
            os.close(handle)
    return False


@contextmanager
def unheld(mark: Path) -> Iterator[bool]:
    """Keep others from holding `mark`; yields False where one of them does. What this process holds does not count."""
    with _lock:
        _release(mark)
    try:
        handle = os.open(mark, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # there is none: nobody holds it
        yield True
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        free = True
    except BlockingIOError:
        free = False
    try:
        yield free
    finally:
        os.close(handle)


def _release(mark: Path) -> None:
    if (handle := _held.pop(mark, None)) is not None:
        os.close(handle)


def _is_still(path: Path, handle: int) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False
