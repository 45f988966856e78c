"""Move one upstream forward: resolve, fetch, measure, edit a copy of the catalogue, render it, and only then write."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from modelyard.catalog import Catalog, Upstream, load
from modelyard.errors import CatalogError, SourceError
from modelyard.lock.changes import Changes, compare
from modelyard.lock.move import Move, components_of, edits, new_tags, next_ref, upstream_named
from modelyard.objects import Object
from modelyard.sources import Store, gomod
from modelyard.writing import write_all

# Catalogue, target, components -> their objects.
Render = Callable[[Catalog, str, Sequence[str]], Iterable[Object]]


@dataclass(frozen=True, slots=True)
class Update:
    """A move that has been tried.

    Args:
        move: what moves.
        files: new texts by path below the catalogue's root.
        changes: what it changes, by target; empty where nothing was rendered.
    """

    move: Move
    files: Mapping[str, str]
    changes: Mapping[str, Changes]


def plan_move(catalog: Catalog, name: str, to: str | None, store: Store) -> Move:
    """Find out where an upstream's next version is, and measure it.

    Args:
        catalog: the catalogue.
        name: an upstream, or a component that has one.
        to: the version; None: the latest that the Go module proxy lists.
        store: fetches the upstream's files.

    Raises:
        CatalogError: there is no such upstream, or its next tag cannot be told.
        SourceError: the version, or its files, cannot be had.
    """
    name = upstream_named(catalog, name)
    old = catalog.lock.upstreams[name]
    if old.module:
        found = _resolved(old.module, to, store)
        moved = {"ref": next_ref(name, old, found.version), "version": found.version, "commit": found.commit or None}
    elif to:
        moved = {"ref": to, "commit": None}
    else:
        raise CatalogError(f"upstream {name}", "has no Go module to ask for the latest version", "add --to TAG")
    new = old.model_copy(update=moved)
    if old.tree is not None:
        digest = store.measure(name, new, old.tree.dir)
        new = new.model_copy(update={"tree": old.tree.model_copy(update={"sha256": digest})})
    return Move(name, old, _checked(new), new_tags(catalog, name, new.ref))


def _resolved(module: str, to: str | None, store: Store) -> gomod.Resolved:
    try:
        return gomod.resolve(module, to or "latest", go=store.go(), modcache=store.modcache)
    except SourceError as error:
        # A proxy that gives each version may still refuse to list them.
        remedy = "name another version by --to" if to else "name a version by --to, as `latest` cannot be had"
        raise SourceError(error.subject, error.cause, remedy) from error


def _checked(upstream: Upstream) -> Upstream:
    return Upstream.model_validate(upstream.model_dump())  # model_copy checks nothing


def try_move(catalog: Catalog, move: Move, render: Render | None) -> Update:
    """Make the move in a copy of the catalogue, and compare what both render.

    Args:
        catalog: the catalogue.
        move: what to do.
        render: renders; None: look at nothing.

    Raises:
        RenderError: the moved catalogue cannot be rendered.
        CatalogError: a file lacks what is to be changed.
    """
    files = edits(catalog, move)
    changes: dict[str, Changes] = {}
    if render is not None:
        with tempfile.TemporaryDirectory(prefix="modelyard-lock-") as scratch:
            moved = _copy(catalog, files, Path(scratch))
            names = components_of(catalog, move, files)
            for target in sorted(catalog.targets):
                chosen = [name for name in names if name in catalog.available(target)]
                if chosen:
                    changes[target] = compare(
                        render(catalog, target, chosen), render(moved, target, chosen), catalog.image_names
                    )
    return Update(move, files, changes)


def _copy(catalog: Catalog, files: Mapping[str, str], into: Path) -> Catalog:
    for name in ("manifests", "overlays"):
        shutil.copytree(catalog.root / name, into / name)
    shutil.copyfile(catalog.root / "upstream.lock", into / "upstream.lock")
    write(into, files)
    return load(into)


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write the new texts, all or none.

    Raises:
        CatalogError: one of the files cannot be written.
    """
    try:
        write_all({root / path: text for path, text in files.items()})
    except OSError as error:
        shown = ", ".join(sorted(files))
        cause = f"cannot be written: {error.strerror}; all files are as they were"
        raise CatalogError(shown, cause, "work in a clone, on a disk with free space") from error
