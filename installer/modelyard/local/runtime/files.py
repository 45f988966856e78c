"""Files that are whole or not there, and private."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def make_private_dir(path: Path) -> Path:
    """Create `path` with mode 0700, parents as needed, and return it."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def write_private(path: Path, content: str | bytes, *, mode: int = 0o600, owner: tuple[int, int] | None = None) -> None:
    """Replace `path` by `content` atomically; readers see the old file or the new one.

    Args:
        path: the file; its folder must be there.
        content: what it is to hold.
        mode: its permissions.
        owner: its user and group id; None for those of the process.
    """
    data = content.encode() if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            os.fchmod(stream.fileno(), mode)
            if owner is not None:
                os.fchown(stream.fileno(), *owner)
            stream.write(data)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Mapping[str, object]) -> None:
    """Replace `path` by `value` as JSON, atomically and private."""
    write_private(path, json.dumps(value, indent=1))


def read_json(path: Path) -> dict[str, object] | None:
    """Return the JSON object in `path`, or None where there is none (no file, half a file)."""
    try:
        value = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return value if isinstance(value, dict) else None


@contextmanager
def locked(path: Path, *, blocking: bool = True) -> Iterator[None]:
    """Hold an exclusive lock on `path` (a file that is made, or a folder that is there).

    Raises:
        BlockingIOError: `blocking` is False and another process holds it.
    """
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT
    handle = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if blocking else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)
