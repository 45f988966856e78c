"""Layers of files on this machine: sorted, owned by root, without times, so that equal files give equal bytes."""

from __future__ import annotations

import fnmatch
import io
import os
import re
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType


class LayerWriter:
    """Writes one layer; every path is put in once, with its parent folders before it.

    Args:
        out: the uncompressed tar to write.
        present: folders that lower layers have, and whose mode and owner this one must not change.
    """

    def __init__(self, out: Path, present: Iterable[str]) -> None:
        self._archive = tarfile.open(out, "w")  # noqa: SIM115 - closed by __exit__
        self._folders = set(present)

    def __enter__(self) -> LayerWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._archive.close()

    def folder(self, name: str, *, mode: int = 0o755, uid: int = 0, gid: int = 0) -> None:
        """Add a folder, unless it is there."""
        if name in self._folders or not name:
            return
        self.folder(name.rpartition("/")[0])
        self._folders.add(name)
        entry = _entry(name, mode, uid, gid)
        entry.type = tarfile.DIRTYPE
        self._archive.addfile(entry)

    def data(self, name: str, content: bytes, *, mode: int = 0o644) -> None:
        """Add a file with this content."""
        self.folder(name.rpartition("/")[0])
        entry = _entry(name, mode)
        entry.size = len(content)
        self._archive.addfile(entry, io.BytesIO(content))

    def link(self, name: str, target: str) -> None:
        """Add a symbolic link."""
        self.folder(name.rpartition("/")[0])
        entry = _entry(name, 0o777)
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        self._archive.addfile(entry)

    def tree(self, source: Path, name: str, exclude: Sequence[str]) -> None:
        """Add the files under `source` as `name`/..., but those whose path in it matches a pattern of `exclude`."""
        for path, relative in _files(source, exclude):
            if path.is_symlink():
                self.link(f"{name}/{relative}", os.readlink(path))  # noqa: PTH115 - as it is written
                continue
            self.folder(f"{name}/{relative}".rpartition("/")[0])
            status = path.stat()
            entry = _entry(f"{name}/{relative}", 0o755 if status.st_mode & 0o100 else 0o644)
            entry.size = status.st_size
            with path.open("rb") as stream:
                self._archive.addfile(entry, stream)


def _entry(name: str, mode: int, uid: int = 0, gid: int = 0) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.mode, entry.uid, entry.gid = mode, uid, gid
    return entry


def _files(source: Path, exclude: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Yield each file and its path in `source`, sorted by that path."""
    excluded = re.compile("|".join(fnmatch.translate(pattern) for pattern in exclude) or r"(?!)")
    found = []
    for parent, _, names in os.walk(source):
        for name in names:
            path = Path(parent) / name
            relative = path.relative_to(source).as_posix()
            if not excluded.match(relative):
                found.append((relative, path))
    for relative, path in sorted(found):
        yield path, relative
