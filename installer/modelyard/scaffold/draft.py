"""What a scaffold would write, decided before anything is written."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from modelyard.errors import CatalogError, RefusalError

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
        """Write it all.

        Raises:
            RefusalError: one of the folders is there already; nothing was changed.
            CatalogError: a file cannot be written.
        """
        for folder in sorted(self.folders):
            if folder.exists() or folder.is_symlink():
                raise RefusalError(str(folder), "is there already; nothing was changed", "take another name")
        try:
            for folder, files in sorted(self.folders.items()):
                _write_folder(folder, files)
            for path, content in sorted(self.edits.items()):
                path.write_text(content, encoding="utf-8")
        except OSError as error:
            raise CatalogError(str(error.filename or "scaffold"), f"cannot be written: {error.strerror}") from error


def _write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write a folder that is there as a whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        for name, content in files.items():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            (scratch / name).write_text(content, encoding="utf-8")
        scratch.chmod(0o755)  # mkdtemp's is for the owner alone
        scratch.rename(folder)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise


def kustomization(*resources: str, comment: str = "") -> str:
    """Return a kustomization.yaml that lists `resources`, with a comment at its end."""
    lines = "".join(f"- {entry}\n" for entry in resources)
    end = "".join(f"# {line}\n" if line else "#\n" for line in comment.splitlines())
    return f"{KUSTOMIZATION}\nresources:\n{lines}" + (f"\n{end}" if end else "")
