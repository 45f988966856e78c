"""How far a Go compile is, from what `go build -v` writes on standard error while it runs."""

from __future__ import annotations

import re

from modelyard.programs import Tell

_DOWNLOADING = "go: downloading "
_PACKAGE = re.compile(r"[\w.~-]+(/[\w.~-]+)*")  # alone on its line: compiled


def is_progress(line: str) -> bool:
    """Tell whether a line of go's standard error says how far it is, and not what is wrong."""
    return line.startswith(_DOWNLOADING) or _PACKAGE.fullmatch(line) is not None


class CompileProgress:
    """Counts modules that are downloaded and packages that are compiled.

    Args:
        tell: takes what was counted so far, for people.
    """

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._modules = 0
        self._packages = 0

    def __call__(self, line: str) -> None:
        """Take a line of go's standard error."""
        if line.startswith(_DOWNLOADING):
            self._modules += 1
            self._tell(f"downloading Go modules: {self._modules}, {line.removeprefix(_DOWNLOADING).split()[0]}")
        elif is_progress(line):
            self._packages += 1
            self._tell(f"compiled {self._packages} Go packages, {line}")
