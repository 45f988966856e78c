"""Which stored entries go when the cache is pruned, by age and by size."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from modelyard.local.build.failing import require
from modelyard.local.build.holds import unheld
from modelyard.local.build.store import Entry, Store
from modelyard.programs import run

_CHMOD_SECONDS = 600.0  # a module cache has some 100,000 files


@dataclass(frozen=True, slots=True)
class Limits:
    """What may stay.

    Args:
        max_age: seconds since an entry was last used; None for no limit.
        max_size: bytes that the store may take; None for no limit. The least recently used go first.
    """

    max_age: float | None = None
    max_size: int | None = None


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a prune did: entries and scratch folders removed, bytes freed, entries left as other commands use them."""

    entries: tuple[Entry, ...]
    scratch: int
    freed: int
    in_use: tuple[Entry, ...] = ()


def select(entries: Sequence[Entry], limits: Limits, *, now: float, protected: Collection[Path] = ()) -> list[Entry]:
    """Return the entries to remove, least recently used first (ties by kind and key).

    Args:
        entries: what is stored.
        limits: what may stay.
        now: seconds since 1970.
        protected: folders of entries that a running cluster uses; they stay, whatever the limits.
    """
    by_use = sorted(entries, key=lambda entry: (entry.used_at, entry.kind, entry.key))
    total = sum(entry.size for entry in entries)
    chosen = []
    for entry in by_use:
        if entry.path in protected:
            continue
        too_old = limits.max_age is not None and now - entry.used_at > limits.max_age
        too_much = limits.max_size is not None and total > limits.max_size
        if too_old or too_much:
            chosen.append(entry)
            total -= entry.size
    return chosen


def holding(entries: Sequence[Entry], used: Collection[Path]) -> set[Path]:
    """Return the folders of the entries that hold a file of `used`, as `select` wants them for `protected`.

    Args:
        entries: what is stored; the cache may be reached through a link.
        used: files in use, resolved.
    """
    folders = {entry.path: entry.path.resolve() for entry in entries}
    return {path for path, real in folders.items() if any(file.is_relative_to(real) for file in used)}


def prune(store: Store, limits: Limits, *, now: float, protected: Collection[Path] = ()) -> Pruned:
    """Remove what `select` chooses and no other process uses, and what interrupted builds left behind."""
    chosen = select(store.entries(), limits, now=now, protected=protected)
    in_use = tuple(entry for entry in chosen if not store.remove(entry))
    gone = tuple(entry for entry in chosen if entry not in in_use)
    return Pruned(gone, store.sweep_scratch(), sum(entry.size for entry in gone), in_use)


def prune_go_caches(cache: Path) -> int | None:
    """Remove Go's module and build caches under `cache`; return the bytes freed, None where another command uses them.

    Go keeps its module cache read-only, so it is made writable first.
    """
    folder = cache / "go"
    if not folder.is_dir():
        return 0
    with unheld(folder) as free:
        if not free:
            return None
        size = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
        require(run(["chmod", "--recursive", "u+w", folder], seconds=_CHMOD_SECONDS), f"Go's caches in {folder}")
        shutil.rmtree(folder)
    return size
