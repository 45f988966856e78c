"""A process as its own machine knows it, so that one that was killed is not waited for."""

from __future__ import annotations

import os
from pathlib import Path


def name_process(pid: int) -> str:
    """Return boot, pid namespace, pid and start of a process; empty where this machine has no /proc, or not the pid."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116
        # pid (command) state ppid ...: the command may hold blanks and parentheses; the start is field 22
        start = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
    return f"{boot}/{space}/{pid}/{start}"


def is_gone(process: str) -> bool:
    """Tell whether a process was one of this machine, in this pid namespace, and is no more; False where unknown."""
    own = name_process(os.getpid()).split("/")
    other = process.split("/")
    if len(own) != 4 or len(other) != 4 or own[:2] != other[:2] or not other[2].isdecimal():
        return False
    return name_process(int(other[2])) != process
