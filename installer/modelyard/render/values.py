"""Values put into a staged overlay: the target's, a site's, and those that are known only at install time.

Each stands in a line of values.env beside the kustomization that uses it, so that a plain `kustomize build` works too.
A thin overlay may leave that to the one that it is on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from modelyard.catalog.names import unknown
from modelyard.catalog.values_file import ENV_FILE


def put_values(folders: Sequence[Path], values: Mapping[str, str], *, shown: str) -> None:
    """Set lines of values.env in the staged `folders`; each in the first folder that has it.

    Args:
        folders: staged folders of one component, the overlay before what it is on.
        values: what to set.
        shown: the overlay's name for people.

    Raises:
        CatalogError: no values.env has such a name.
    """
    files = {folder / ENV_FILE: _lines(folder / ENV_FILE) for folder in folders if (folder / ENV_FILE).is_file()}
    for name, value in values.items():
        file = next((file for file, lines in files.items() if name in map(_name, lines)), None)
        if file is None:
            known = {_name(line) for lines in files.values() for line in lines} - {""}
            raise unknown("value", name, known, where=f"{shown}/{ENV_FILE}")
        files[file] = [f"{name}={value}" if _name(line) == name else line for line in files[file]]
    for file, lines in files.items():
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def _name(line: str) -> str:
    """Return the name that a line sets; empty for a comment."""
    return "" if line.startswith("#") or "=" not in line else line.split("=", 1)[0]
