"""Files that are whole or not there, and private."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import time
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
def locked(path: Path, *, patience: float = 0.0) -> Iterator[None]:
    """Hold an exclusive lock on the file `path`, which is made for its owner alone.

    Args:
        path: the file; who can open it can hold it, so its folder must be no other user's.
        patience: seconds to wait for another process that holds it.

    Raises:
        BlockingIOError: another process holds it still.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _lock_within(handle, path, patience)
        yield
    finally:
        os.close(handle)


def _lock_within(handle: int, path: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise BlockingIOError(error.errno, f"{path} is held by another process", str(path)) from error
        else:
            return
        time.sleep(0.02)  # a poll: flock itself knows no deadline
