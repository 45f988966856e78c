"""The system calls that Python 3.11's `os` lacks."""

from __future__ import annotations

import ctypes
import os
import platform

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MS_SHARED = 1 << 20
MNT_DETACH = 2

MOUNT_ATTR_RDONLY = 1  # of mount_setattr(2); the first three are those of mount(2)
MOUNT_ATTR_NOSUID = 2
MOUNT_ATTR_NODEV = 4
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_MOUNT_SETATTR = 442  # on every architecture; Linux 5.12

_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}  # glibc has no wrapper; the kernel's unistd.h
_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Leave the namespaces in `flags` for new ones (unshare(2)).

    Raises:
        OSError: the kernel refused.
    """
    _check(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mount (mount(2)).

    Raises:
        OSError: the kernel refused; the error names the target.
    """
    result = _libc.mount(
        source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), data.encode() or None
    )
    _check(result, f"mount {source} on {target}")


def bind(source: str, target: str, *, recursive: bool = False) -> None:
    """Show `source` at `target` too.

    Raises:
        OSError: the kernel refused.
    """
    mount(source, target, flags=MS_BIND | (MS_REC if recursive else 0))


def protect(target: str, attributes: int) -> None:
    """Add `attributes` to the mount at `target` and all below it (mount_setattr(2)).

    Raises:
        OSError: the kernel refused, or is older than 5.12.
    """
    # struct mount_attr: attr_set, attr_clr, propagation, userns_fd
    attr = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    result = _libc.syscall(
        _MOUNT_SETATTR,
        _AT_FDCWD,
        target.encode(),
        ctypes.c_uint(_AT_RECURSIVE),
        ctypes.byref(attr),
        ctypes.c_size_t(ctypes.sizeof(attr)),
    )
    _check(result, f"protect {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root and put the old root at `old` (pivot_root(2)).

    Raises:
        OSError: the kernel refused, or the machine's architecture is not known here.
    """
    number = _PIVOT_ROOT.get(platform.machine())
    if number is None:
        raise OSError(38, f"pivot_root: architecture {platform.machine()} is not known")
    _check(_libc.syscall(number, new.encode(), old.encode()), f"pivot_root to {new}")


def unmount(target: str) -> None:
    """Detach the mount at `target` (umount2(2), MNT_DETACH).

    Raises:
        OSError: the kernel refused.
    """
    _check(_libc.umount2(target.encode(), MNT_DETACH), f"unmount {target}")


def set_hostname(name: str) -> None:
    """Set the host name of this UTS namespace (sethostname(2)).

    Raises:
        OSError: the kernel refused.
    """
    encoded = name.encode()
    _check(_libc.sethostname(encoded, len(encoded)), "sethostname")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
