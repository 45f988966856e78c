"""The digest of a folder: what upstream.lock pins and every use verifies."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path


def tree_digest(folder: Path) -> str:
    """Return the sha256 of all files below `folder`, as 64 hex digits.

    The digest of the sorted lines "<sha256 of the file>  <path below folder>"; modes and times do not
    count, so that the same tree from a Go module, from git and from a bundle has the same digest.
    The shape is that of Go's dirhash (golang.org/x/mod/sumdb/dirhash, Hash1).
    """
    total = hashlib.sha256()
    for path, relative in sorted(_files(folder), key=lambda item: item[1]):
        content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        total.update(f"{hashlib.sha256(content).hexdigest()}  {relative}\n".encode())
    return total.hexdigest()


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    for base, _, names in os.walk(folder):
        for name in names:
            path = Path(base, name)
            yield path, path.relative_to(folder).as_posix()
