"""A folder that pods can write, written by root without following a link out of it.

A pod with a hostPath volume may have put a link, a device or a pipe where a file of ours belongs. Every part of a
path is therefore opened by itself, relative to the one above it and with O_NOFOLLOW, so that neither what was there
before nor what is put there meanwhile leads elsewhere. openat2's RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS says the same
in one call; this needs no call that Python lacks.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class NodeTree:
    """The folder `root`; all paths are relative to it. `root` itself must not be writable by pods.

    What stands in the way (a link, a device, a file where a folder belongs) is removed; a folder is renamed.
    """

    def __init__(self, root: Path) -> None:
        self.path = root
        self._handle = os.open(root, _FOLDER | os.O_RDONLY)

    def close(self) -> None:
        """Give the handle of the root back."""
        os.close(self._handle)

    def enter(self) -> None:
        """Make the root this process's working folder."""
        os.fchdir(self._handle)

    def folder(self, path: str, mode: int | None = None) -> None:
        """Make the folder `path` and those above it; set its `mode` if one is given.

        Raises:
            OSError: the file system refused.
        """
        with self._folder(path) as handle:
            if mode is not None:
                os.fchmod(handle, mode)

    def write(self, path: str, text: str, mode: int) -> None:
        """Replace the file `path` by one that holds `text`; nothing is ever written into what was there.

        Raises:
            OSError: the file system refused.
        """
        parent, _, name = path.rpartition("/")
        fresh = f".{name}.{secrets.token_hex(8)}"
        with self._folder(parent) as handle:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(fresh, flags, 0o600, dir_fd=handle), "w") as stream:
                os.fchmod(stream.fileno(), mode)
                stream.write(text)
            _clear(handle, name, stat.S_ISREG)
            os.rename(fresh, name, src_dir_fd=handle, dst_dir_fd=handle)

    def link(self, path: str, target: str) -> None:
        """Make `path` a symbolic link to `target`.

        Raises:
            OSError: the file system refused.
        """
        parent, _, name = path.rpartition("/")
        with self._folder(parent) as handle:
            _clear(handle, name, stat.S_ISLNK)
            if _mode(handle, name) is not None:
                if os.readlink(name, dir_fd=handle) == target:
                    return
                os.unlink(name, dir_fd=handle)
            os.symlink(target, name, dir_fd=handle)

    @contextmanager
    def place(self, path: str, *, folder: bool) -> Iterator[str]:
        """Make `path` a folder or a file, and yield a name by which just that can be mounted over.

        Raises:
            OSError: the file system refused.
        """
        parent, _, name = path.rpartition("/")
        with self._folder(parent) as handle:
            if folder:
                _make_folder(handle, name)
            elif not _clear(handle, name, stat.S_ISREG):
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                os.close(os.open(name, flags, 0o644, dir_fd=handle))
            place = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
        try:
            yield f"/proc/self/fd/{place}"
        finally:
            os.close(place)

    @contextmanager
    def _folder(self, path: str) -> Iterator[int]:
        handle = os.dup(self._handle)
        try:
            for part in [each for each in path.split("/") if each]:
                if part == "..":
                    raise ValueError(f"{path} leads out of {self.path}")
                _make_folder(handle, part)
                below = os.open(part, _FOLDER | os.O_RDONLY, dir_fd=handle)
                os.close(handle)
                handle = below
            yield handle
        finally:
            os.close(handle)


def _make_folder(parent: int, name: str) -> None:
    if not _clear(parent, name, stat.S_ISDIR):
        os.mkdir(name, 0o755, dir_fd=parent)


def _clear(parent: int, name: str, wanted: Callable[[int], bool]) -> bool:
    """Take `name` away unless it is of the `wanted` type; tell whether it is there afterwards."""
    mode = _mode(parent, name)
    if mode is None:
        return False
    if wanted(mode):
        return True
    if stat.S_ISDIR(mode):
        os.rename(name, f".{name}.{secrets.token_hex(8)}", src_dir_fd=parent, dst_dir_fd=parent)
    else:
        os.unlink(name, dir_fd=parent)
    return False


def _mode(parent: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
