"""Why something could not be built, in words, and the next command: a full disk is told from the rest."""

from __future__ import annotations

import errno
import os

from modelyard.errors import BuildError
from modelyard.programs import Ended

_FULL = os.strerror(errno.ENOSPC)


def cannot_write(subject: str, error: OSError) -> BuildError:
    """Return the error for a file that cannot be written or read."""
    cause = (error.strerror or str(error)) + (f": {error.filename}" if error.filename else "")
    return BuildError(subject, cause, _remedy(full=error.errno in (errno.ENOSPC, errno.EDQUOT)))


def require(done: Ended, subject: str) -> Ended:
    """Return `done`.

    Args:
        done: a program of a build.
        subject: what was to be built.

    Raises:
        BuildError: it failed.
    """
    if done.problem:
        raise BuildError(subject, done.problem, _remedy(full=_FULL.lower() in done.stderr.lower()))
    return done


def _remedy(*, full: bool) -> str:
    return "modelyard local prune --all, or --cache-dir on a larger disk" if full else "modelyard doctor"
