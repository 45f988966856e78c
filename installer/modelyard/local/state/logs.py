"""The components' logs: bounded, and one old one each."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

_MOST = 16 * 1024 * 1024  # bytes


def rotate_before_start(log: Path) -> None:
    """Move a large `log` aside before its component starts."""
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > _MOST:
            log.replace(_old(log))


def rotate_all(folder: Path) -> None:
    """Copy aside and empty each large log in `folder`; its component goes on writing to it.

    Components write with O_APPEND, so an emptied log goes on at its start. Lines written between copy and
    truncation are lost, which a log of a local cluster can bear.
    """
    for log in folder.glob("*.log"):
        if log.stat().st_size > _MOST:
            shutil.copyfile(log, _old(log))
            with log.open("r+b") as stream:
                stream.truncate(0)


def tail(log: Path, lines: int) -> list[str]:
    """Return the last `lines` lines of `log`; none where there is no log."""
    try:
        with log.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - 256 * lines - 4096))
            return stream.read().decode(errors="replace").splitlines()[-lines:]
    except FileNotFoundError:
        return []


def _old(log: Path) -> Path:
    return log.with_suffix(".log.1")
