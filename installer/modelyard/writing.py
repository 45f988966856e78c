"""Several files written together: all of them, or none.

Each is written beside its place first; then all are renamed, and what was renamed is taken back where one cannot be.
Only a machine that fails between two renames can leave some of them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path


def write_all(files: Mapping[Path, str], folders: Mapping[Path, Mapping[str, str]] | None = None) -> None:
    """Write files, and new folders of files.

    Args:
        files: new texts by path; the files may be there, and keep their mode.
        folders: new folders, which are not there, each with its files by their path in it.

    Raises:
        OSError: one of them cannot be written; then all are as they were.
    """
    with ExitStack() as scratch, ExitStack() as undo:  # what is left in `undo` at the end is undone
        staged: list[tuple[Path, Path]] = []
        for folder, content in sorted((folders or {}).items()):
            _make_parents(folder, scratch)
            staged.append((_stage_folder(folder, content, scratch), folder))
        for path, text in sorted(files.items()):
            staged.append((_stage_file(path.resolve(), text, scratch), path.resolve()))
        for new, place in staged:
            old = _kept(place, scratch)
            new.rename(place)
            undo.callback(_take_back, place, old)
        undo.pop_all()


def _make_parents(folder: Path, scratch: ExitStack) -> None:
    missing = [each for each in folder.parents if not each.exists()]
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        scratch.callback(_remove_empty, each)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # something is in it: it has come to use
        folder.rmdir()


def _stage_folder(folder: Path, content: Mapping[str, str], scratch: ExitStack) -> Path:
    new = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    scratch.callback(shutil.rmtree, new, ignore_errors=True)
    for name, text in content.items():
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).write_text(text, encoding="utf-8")
    new.chmod(0o755)  # mkdtemp's is for the owner alone
    return new


def _stage_file(path: Path, text: str, scratch: ExitStack) -> Path:
    new = _beside(path, scratch)
    new.write_text(text, encoding="utf-8")
    new.chmod(path.stat().st_mode & 0o7777 if path.exists() else 0o644)
    return new


def _kept(place: Path, scratch: ExitStack) -> Path | None:
    """Return another name of the file that is there now; it takes no space, so taking it back needs none."""
    if not place.is_file():
        return None
    kept = _beside(place, scratch)
    kept.unlink()
    try:
        kept.hardlink_to(place)
    except OSError:  # a file system without such links
        shutil.copy2(place, kept)
    return kept


def _take_back(place: Path, old: Path | None) -> None:
    if old is not None:
        old.rename(place)
    elif place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()


def _beside(path: Path, scratch: ExitStack) -> Path:
    handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    os.close(handle)
    scratch.callback(Path(name).unlink, missing_ok=True)
    return Path(name)
