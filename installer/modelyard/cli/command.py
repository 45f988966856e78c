"""This command, as others that want to change the same cluster are told of it."""

from __future__ import annotations

import shlex
import sys

_SHOWN = 200  # characters


def this_command() -> str:
    """Return the command line."""
    return shlex.join(["modelyard", *sys.argv[1:]])[:_SHOWN]
