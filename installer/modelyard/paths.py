"""Where modelyard finds what it ships, and where it keeps what it makes."""

from __future__ import annotations

import os
from pathlib import Path


def data_root() -> Path:
    """Return the folder that holds manifests/, overlays/, conformance/, examples/ and upstream.lock.

    In a clone (editable install) that is the clone; in an installed wheel it is package data.
    `MODELYARD_ROOT` wins over both.
    """
    if override := os.environ.get("MODELYARD_ROOT"):
        return Path(override)
    package = Path(__file__).resolve().parent
    packaged = package / "_data"
    return packaged if packaged.is_dir() else package.parent.parent


def is_packaged(root: Path) -> bool:
    """Tell whether `root` is the data of an installed wheel."""
    return root == Path(__file__).resolve().parent / "_data"


def cache_dir(override: Path | None = None) -> Path:
    """Return the cache folder: `override`, `$MODELYARD_CACHE_DIR`, or `~/.cache/modelyard`."""
    if override is not None:
        return override.expanduser().absolute()
    if value := os.environ.get("MODELYARD_CACHE_DIR"):
        return Path(value).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "modelyard"


def upstreams_dir() -> Path | None:
    """Return the folder of upstream trees that were handed over, `$MODELYARD_UPSTREAMS`; None where none was.

    It holds a folder `<repository>-<ref>` for each, as the git host packs it.
    """
    value = os.environ.get("MODELYARD_UPSTREAMS")
    return Path(value).expanduser().absolute() if value else None


def state_dir() -> Path:
    """Return the folder of the embedded clusters' state, one folder a cluster name.

    `$MODELYARD_STATE_DIR`, or `~/.local/state/modelyard` (the XDG base directory specification).
    """
    if value := os.environ.get("MODELYARD_STATE_DIR"):
        return Path(value).expanduser().absolute()
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "modelyard"
