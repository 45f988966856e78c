"""The digest of a folder: what upstream.lock pins and every use verifies."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from modelyard.errors import SourceError

# Far above any upstream's manifests: a tree that has more is no tree of manifests.
MAX_BYTES = 256 * 1024**2
MAX_ENTRIES = 100_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or a link of a tree.

    Args:
        path: where it is.
        name: its path below the tree's folder, as bytes.
        target: what a link names; empty for a file.
    """

    path: Path
    name: bytes
    target: bytes = b""


def tree_digest(folder: Path) -> str:
    """Return the sha256 of all files and links below `folder`, as 64 hex digits.

    The digest of the sorted lines "<sha256 of the file>  <path below folder>"; modes and times do not
    count, so that the same tree from a Go module, from git and from a bundle has the same digest.
    The shape is that of Go's dirhash (golang.org/x/mod/sumdb/dirhash, Hash1). A link's line begins with "link " and
    has the sha256 of what it names.

    Raises:
        SourceError: see `entries`.
    """
    total = hashlib.sha256()
    for entry in sorted(entries(folder), key=lambda each: each.name):
        if entry.target:
            total.update(b"link %s  %s\n" % (hashlib.sha256(entry.target).hexdigest().encode(), entry.name))
        else:
            with entry.path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            total.update(b"%s  %s\n" % (content.encode(), entry.name))
    return total.hexdigest()


def entries(folder: Path) -> Iterator[Entry]:
    """Yield all files and links below `folder`; nothing is opened, and no link is followed.

    Raises:
        SourceError: one of them has no place in a tree of manifests: a device or a pipe, a link that is
            absolute or leads to a folder that it is in, a name with a line break, or all together are too big.
    """
    size = count = 0
    for base, folders, files in os.walk(folder):
        links = [name for name in folders if Path(base, name).is_symlink()]
        for name in (*files, *links):
            path = Path(base, name)
            entry = _entry(folder, path)
            size, count = size + path.lstat().st_size, count + 1
            if size > MAX_BYTES or count > MAX_ENTRIES:
                limit = f"{MAX_BYTES // 1024**2} MiB or {MAX_ENTRIES:,} files"
                raise _refused(folder, path, f"the tree has more than {limit}, too much for manifests")
            yield entry


def _entry(folder: Path, path: Path) -> Entry:
    name = os.fsencode(path.relative_to(folder).as_posix())
    if b"\n" in name:
        raise _refused(folder, path, "has a line break in its name")
    mode = path.lstat().st_mode
    if stat.S_ISREG(mode):
        return Entry(path, name)
    if not stat.S_ISLNK(mode):
        raise _refused(folder, path, "is neither a file, a folder nor a link")
    target = path.readlink()
    if target.is_absolute():
        raise _refused(folder, path, f"is a link that leads out of the tree, to {target}")
    if not leads_out(path, folder) and path.is_relative_to(_meant(path)):
        raise _refused(folder, path, f"is a link to a folder that it is in, {target}")
    return Entry(path, name, os.fsencode(target))


def leads_out(link: Path, folder: Path) -> bool:
    """Tell whether a link names something that is not below `folder`: nothing follows it.

    Upstreams have such links into the part of their repository that is not locked (Karpenter's chart, for its CRDs).
    """
    return not _meant(link).is_relative_to(folder)


def _meant(link: Path) -> Path:
    return Path(os.path.normpath(link.parent / link.readlink()))


def _refused(folder: Path, path: Path, cause: str) -> SourceError:
    name = str(path.relative_to(folder))
    return SourceError(f"{name!r} in the upstream tree", cause, "take another version of the upstream")
