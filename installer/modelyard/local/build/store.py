"""A content-addressed store of what is built: each entry is one file or folder under its inputs' hash.

Entries are made in a scratch folder and renamed into place, so a half-written one is never seen; a lock file
per entry lets concurrent runs wait for each other instead of building twice. Beside each entry stands its
seal: size and sha256 of every file in it, by which a damaged entry is found and built again.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelyard.local.build.failing import cannot_write
from modelyard.local.build.holds import hold, unheld

SEAL = "seal.json"
CONTENT = "content"
_OLD = "/"  # no file's name
_LARGEST_SEAL = 64 << 20  # bytes; of the largest image's packages it takes 4 MB


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored thing: its kind and key, bytes on disk, and when it was last used (seconds since 1970)."""

    kind: str
    key: str
    path: Path
    size: int
    used_at: float


def digest(*parts: str | bytes) -> str:
    """Return the hex sha256 over `parts`, each framed by its length so that no two lists collide."""
    hasher = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hasher.update(f"{len(data)}:".encode())
        hasher.update(data)
    return hasher.hexdigest()


def file_digest(path: Path) -> str:
    """Return the hex sha256 of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class Store:
    """The store under `root` (`<root>/<kind>/<key>/{content,seal.json}`)."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def get(self, kind: str, key: str, build: Callable[[Path], None]) -> Path:
        """Return the path of entry (`kind`, `key`), built by `build` if it is missing or damaged.

        It stays until this process ends: no prune of another removes it.

        Args:
            kind: a folder name ("binary", "image").
            key: a hash over everything that decides the content.
            build: called with a path that does not exist yet; must create a file or a folder there.

        Raises:
            BuildError: a file cannot be written (the disk is full, say).
            whatever else `build` raises; nothing is stored then.
        """
        folder = self.root / kind / key
        if (found := _held(folder)) is not None:
            return found
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with _locked(folder.with_name(f".{key}.lock")):
                if (found := _held(folder)) is not None:  # another run built it while this one waited
                    return found
                _build_into(folder, build)
                hold(folder / SEAL)
        except OSError as error:
            raise cannot_write(f"{kind} in {self.root}", error) from error
        return folder / CONTENT

    def has(self, kind: str, key: str) -> bool:
        """Tell whether the entry is there and undamaged."""
        return _intact(self.root / kind / key) is not None

    def entries(self) -> list[Entry]:
        """Return all sealed entries, sorted by kind and key; the size of one whose seal is damaged is measured."""
        found = []
        for seal in sorted(self.root.glob(f"*/[!.]*/{SEAL}")):  # a name with a dot is a build that is not done
            folder = seal.parent
            with contextlib.suppress(FileNotFoundError):  # another prune removes it just now
                found.append(Entry(folder.parent.name, folder.name, folder, _size(folder), seal.stat().st_mtime))
        return found

    def remove(self, entry: Entry) -> bool:
        """Delete one entry, unless another process was handed it; tell whether it is gone.

        A run that is about to use it builds it again.
        """
        lock = entry.path.with_name(f".{entry.key}.lock")
        with _locked(lock), unheld(entry.path / SEAL) as free:
            if not free:
                return False
            (entry.path / SEAL).unlink(missing_ok=True)  # first the seal: what is left counts as damaged
            shutil.rmtree(entry.path, ignore_errors=True)
            lock.unlink(missing_ok=True)  # while it is held: who waits for it sees that it is gone, and makes a new one
        return True

    def sweep_scratch(self) -> int:
        """Delete what interrupted builds left behind; return how many folders went.

        A scratch folder whose entry is locked belongs to a build that is running, and stays.
        """
        swept = 0
        for scratch in self.root.glob("*/.*.scratch-*"):
            key = scratch.name[1:].partition(".scratch-")[0]
            with contextlib.suppress(BlockingIOError), _locked(scratch.with_name(f".{key}.lock"), wait=False):
                shutil.rmtree(scratch, ignore_errors=True)
                swept += 1
        return swept


def _held(folder: Path) -> Path | None:
    """Return the content's path if it is as it was sealed, and now stays so."""
    return _intact(folder) if hold(folder / SEAL) else None


def _build_into(folder: Path, build: Callable[[Path], None]) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.scratch-", dir=folder.parent))
    try:
        build(scratch / CONTENT)
        (scratch / SEAL).write_text(json.dumps({"files": _measure(scratch / CONTENT, hashed=True), "specials": True}))
        if folder.is_symlink() or folder.is_file():  # a damaged entry
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder)
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _size(folder: Path) -> int:
    try:
        return sum(part["size"] for part in _sealed(folder / SEAL).values())
    except ValueError:
        return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def _sealed(seal: Path) -> dict[str, dict[str, Any]]:
    """Return what a seal says of each file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged.
    """
    if seal.is_symlink() or not seal.is_file() or seal.stat().st_size > _LARGEST_SEAL:  # a pipe would never end
        raise ValueError(f"{seal} is not a seal")
    document = json.loads(seal.read_text())
    files = document.get("files") if isinstance(document, dict) else None
    if not isinstance(files, dict) or not all(_is_sealed_file(part) for part in files.values()):
        raise ValueError(f"{seal} is not a seal")
    # Seals of before say nothing of links, which were not looked at.
    return files if document.get("specials") else files | {_OLD: {"size": 0}}


def _is_sealed_file(part: object) -> bool:
    return isinstance(part, dict) and isinstance(part.get("size"), int)


def _intact(folder: Path) -> Path | None:
    """Return the content's path if it is as it was sealed.

    A file whose size and times are the sealed ones counts as unchanged: any write moves its ctime. Only where
    they differ (a copied cache, say) are the contents hashed.
    """
    seal, content = folder / SEAL, folder / CONTENT
    if folder.is_symlink() or content.is_symlink():  # ours are folders and files
        return None
    try:
        sealed = _sealed(seal)
        if not _same(sealed, _measure(content, hashed=False), ("size", "mtime", "ctime", "special")):
            fresh = _measure(content, hashed=True)
            if not _same(sealed, fresh, ("size", "sha256", "special")):
                return None
            seal.write_text(json.dumps({"files": fresh, "specials": True}))
        # The seal's time is the entry's last use; to the hour is enough for pruning and spares writes.
        if time.time() - seal.stat().st_mtime > 3600:
            os.utime(seal)
    except (OSError, ValueError):
        return None
    return content


def _same(sealed: dict[str, dict[str, Any]], found: dict[str, dict[str, Any]], fields: tuple[str, ...]) -> bool:
    if _OLD in sealed:
        sealed = {name: part for name, part in sealed.items() if name != _OLD}
        found = {name: part for name, part in found.items() if "special" not in part}
    return sealed.keys() == found.keys() and all(
        sealed[name].get(field) == found[name].get(field) for name in sealed for field in fields
    )


def _measure(content: Path, *, hashed: bool) -> dict[str, dict[str, object]]:
    files = [content] if not content.is_dir() else sorted(content.rglob("*"))
    measured: dict[str, dict[str, object]] = {}
    for path in files:
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode):
            continue
        if not stat.S_ISREG(status.st_mode):
            measured[str(path.relative_to(content))] = {"size": 0, "special": _special(path, status)}
            continue
        facts: dict[str, object] = {
            "size": status.st_size,
            "mtime": status.st_mtime_ns,
            "ctime": status.st_ctime_ns,
        }
        if hashed:
            facts["sha256"] = file_digest(path)
        measured[str(path.relative_to(content))] = facts
    return measured


def _special(path: Path, status: os.stat_result) -> str:
    """Return what a link, a device or a pipe is."""
    if stat.S_ISLNK(status.st_mode):
        return f"link to {path.readlink()}"
    return f"{stat.S_IFMT(status.st_mode):o} {status.st_rdev}"


@contextlib.contextmanager
def _locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)
    while True:
        with path.open("w") as stream:
            fcntl.flock(stream, flags)
            if _is_still(path, stream.fileno()):
                yield
                return


def _is_still(path: Path, handle: int) -> bool:
    """Tell whether `path` is the opened file, and not another made after `remove` unlinked it."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False
