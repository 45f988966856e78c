"""The folder for short-lived files: whether it can be used is said before minutes of work, in one sentence."""

from __future__ import annotations

import os
import tempfile

from modelyard.errors import HostError

_ENOUGH = 64 * 1024  # bytes; what a full disk has no room for


def require_scratch() -> None:
    """Check that a file can be written where this program, and those that it runs, keep short-lived ones.

    Python would take another folder in silence where $TMPDIR cannot be used; Go and others do not.

    Raises:
        HostError: it cannot.
    """
    named = os.environ.get("TMPDIR")
    try:
        with tempfile.TemporaryFile(dir=named or None) as file:
            file.write(bytes(_ENOUGH))
            file.flush()
    except OSError as error:
        cause = error.strerror or str(error)
        raise HostError(
            f"TMPDIR {named}" if named else "the folder for temporary files",
            f"cannot be written: {cause}",
            "name a folder that can be, with some room: export TMPDIR=/path/to/folder; then run the same command again",
        ) from error
