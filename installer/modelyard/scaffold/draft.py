"""What a scaffold would write, decided before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from modelyard.errors import CatalogError, RefusalError
from modelyard.writing import write_all

KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"


@dataclass(frozen=True, slots=True)
class Draft:
    """New folders, and existing files with a line more.

    Args:
        folders: the files of each new folder, by their path in it.
        edits: existing files with their new content.
    """

    folders: Mapping[Path, Mapping[str, str]]
    edits: Mapping[Path, str] = field(default_factory=dict)

    def write(self) -> None:
        """Write it all, or nothing.

        Raises:
            RefusalError: one of the folders is there already; nothing was changed.
            CatalogError: a file cannot be written.
        """
        for folder in sorted(self.folders):
            refuse_existing(folder)
        try:
            write_all(self.edits, self.folders)
        except OSError as error:
            cause = f"cannot be written: {error.strerror}; nothing was changed"
            raise CatalogError(str(error.filename or "scaffold"), cause) from error


def refuse_existing(folder: Path) -> None:
    """Raise RefusalError where `folder` is there already; a link that leads nowhere counts."""
    if folder.exists() or folder.is_symlink():
        raise RefusalError(str(folder), "is there already; nothing was changed", "take another name")


def kustomization(*resources: str, comment: str = "") -> str:
    """Return a kustomization.yaml that lists `resources`, with a comment at its end."""
    lines = "".join(f"- {entry}\n" for entry in resources)
    end = "".join(f"# {line}\n" if line else "#\n" for line in comment.splitlines())
    return f"{KUSTOMIZATION}\nresources:\n{lines}" + (f"\n{end}" if end else "")
