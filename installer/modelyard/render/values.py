"""Values that are known only at install time, put into a staged overlay.

The overlay's values.env holds a default for each, so that a plain `kustomize build` works too. A thin overlay may
leave it to the one that it is on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from modelyard.catalog.names import unknown

FILE = "values.env"


def put_values(folders: Sequence[Path], values: Mapping[str, str], *, shown: str) -> None:
    """Replace lines of the first values.env in the staged `folders`.

    Args:
        folders: staged folders of one component, the overlay before what it is on.
        values: what to set.
        shown: the overlay's name for people.

    Raises:
        CatalogError: values.env has no such name.
    """
    file = next((folder / FILE for folder in folders if (folder / FILE).is_file()), folders[0] / FILE)
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    names = [line.split("=", 1)[0] for line in lines if "=" in line and not line.startswith("#")]
    for name in values:
        if name not in names:
            raise unknown("value", name, names, where=f"{shown}/{FILE}")
    file.write_text("".join(f"{_line(line, values)}\n" for line in lines), encoding="utf-8")


def _line(line: str, values: Mapping[str, str]) -> str:
    name = line.split("=", 1)[0]
    return f"{name}={values[name]}" if name in values and not line.startswith("#") else line
