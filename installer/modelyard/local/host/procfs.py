"""Processes as /proc shows them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process beyond doubt: a pid alone may be another process's by now.

    Args:
        pid: pid in this process's pid namespace.
        start: start time in clock ticks since the boot (proc(5), field 22 of stat).
        boot: the kernel's id of this boot.
    """

    pid: int
    start: int
    boot: str


def boot_id() -> str:
    """Return the kernel's id of this boot."""
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()


def identify(pid: int) -> ProcessId | None:
    """Return which process `pid` is now, or None where it is none, or a zombie."""
    fields = stat_fields(pid)
    if fields is None or fields[0] in ("Z", "X"):
        return None
    return ProcessId(pid, int(fields[19]), boot_id())


def is_alive(process: ProcessId) -> bool:
    """Whether that very process still runs."""
    return identify(process.pid) == process


def child_of(pid: int) -> int | None:
    """Return the lowest pid whose parent is `pid`, or None."""
    for candidate in sorted(pids()):
        fields = stat_fields(candidate)
        if fields is not None and int(fields[1]) == pid:
            return candidate
    return None


def stat_fields(pid: int) -> list[str] | None:
    """Return the fields of proc(5)'s stat of `pid` from the third (the state) on, or None where it is gone."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The second, the command's name, may hold anything.
    return text[text.rindex(")") + 2 :].split()


def pids() -> Iterator[int]:
    """Yield the pid of every process that this namespace sees."""
    for entry in os.listdir(_PROC):  # noqa: PTH208 - iterdir makes a Path of each of thousands
        if entry.isdigit():
            yield int(entry)


def pids_inside(pid_one: int) -> dict[int, int]:
    """Map pids inside the pid namespace whose pid 1 is `pid_one` to the host's pids.

    Source: NSpid in proc(5).
    """
    wanted = _pid_namespace(pid_one)
    if wanted is None:
        return {}
    inside = {}
    for pid in pids():
        if _pid_namespace(pid) == wanted and (inner := _innermost_pid(pid)) is not None:
            inside[inner] = pid
    return inside


def resident_bytes(pid: int) -> int:
    """Return the resident set of `pid` in bytes, 0 where it is gone."""
    try:
        pages = int((_PROC / str(pid) / "statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def inotify_used(uid: int) -> int:
    """Return how many inotify instances the processes of `uid` have; those that may not be read count as none."""
    return sum(inotify_of(pid) for pid in pids() if _owner(pid) == uid)


def _owner(pid: int) -> int | None:
    try:
        return (_PROC / str(pid)).stat().st_uid
    except OSError:
        return None


def inotify_of(pid: int) -> int:
    """Return how many inotify instances the process `pid` has."""
    folder = f"/proc/{pid}/fd"
    found = 0
    try:
        for handle in os.listdir(folder):  # noqa: PTH208 - thousands of them
            with contextlib.suppress(OSError):
                found += os.readlink(f"{folder}/{handle}") == "anon_inode:inotify"  # noqa: PTH115
    except OSError:
        return found
    return found


def _pid_namespace(pid: int) -> int | None:
    try:
        return (_PROC / str(pid) / "ns/pid").stat().st_ino
    except OSError:
        return None


def _innermost_pid(pid: int) -> int | None:
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return None
