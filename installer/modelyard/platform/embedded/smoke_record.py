"""On which platform the smoke job passed last, beside the cluster's state."""

from __future__ import annotations

from pathlib import Path

from modelyard.apply import Comparison
from modelyard.local.build.store import digest


class SmokeRecord:
    """Remembers one platform.

    Args:
        path: the file.
        compared: the platform, as it is to be.
    """

    def __init__(self, path: Path, compared: Comparison) -> None:
        self._path = path
        self._key = digest(*(f"{name} {found}" for name, found in compared.digests.items()))

    def passed(self) -> bool:
        """Tell whether the job passed on this very platform."""
        return self._path.is_file() and self._path.read_text() == self._key

    def keep(self) -> None:
        """Remember that it did."""
        self._path.write_text(self._key)

    def forget(self) -> None:
        """Forget what passed."""
        self._path.unlink(missing_ok=True)
