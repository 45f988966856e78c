"""Files that libraries want and that no disk may keep: private keys.

OpenSSL reads a client's key from a file only. A temporary one stays behind when a command ends by `os._exit` or
SIGKILL; memory (memfd_create(2)) goes with the process, however it ends, and needs no folder that can be written.
"""

from __future__ import annotations

import os
import tempfile
import threading

_made: dict[bytes, str] = {}
_lock = threading.Lock()


def memory_file(content: bytes | str, *_ignored: object, **_too: object) -> str:
    """Return a path under which this process, and no other user's, can read `content` as long as it lives.

    The same content has the same path. Elsewhere than on Linux it is a temporary file, as there is no such memory.

    Raises:
        OSError: no memory or no temporary file can be had.
    """
    data = content.encode() if isinstance(content, str) else content
    with _lock:
        if data not in _made:
            _made[data] = _make(data)
        return _made[data]


def _make(data: bytes) -> str:
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("modelyard-credential")  # close-on-exec: no child inherits it
        path = f"/proc/self/fd/{handle}"
    else:
        handle, path = tempfile.mkstemp()
    with os.fdopen(handle, "wb", closefd=not path.startswith("/proc/")) as stream:
        stream.write(data)
    return path
