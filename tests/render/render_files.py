"""Catalogues and overlays as tests write them."""

from __future__ import annotations

from pathlib import Path

# What every component says of itself beside its name.
ABOUT = "area: cluster\nsummary: x\nlicence: MIT\n"


def write(root: Path, files: dict[str, str]) -> None:
    """Write `files` below `root`."""
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
