"""Verified upstream trees, kept by digest: a tree that is there is not fetched again."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from modelyard.catalog.models import Tree, Upstream
from modelyard.errors import SourceError
from modelyard.sources import git, gomod
from modelyard.sources.digest import entries, tree_digest


class UnavailableError(SourceError):
    """No channel has the files: nothing is known about their digest."""


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of verified trees, and how to get one that is missing.

    Args:
        folder: where the trees are kept, one folder a digest.
        modcache: a Go module cache of our own.
        go: gives the go command; called only when a module must be fetched. It may raise.
        offline: take only what is on this machine: kept trees, modules in the module cache, and what was handed over.
        tell: takes what a user should know though it goes on.
        handed: folder of trees that were handed over (paths.upstreams_dir), for machines without the git host.
    """

    folder: Path
    modcache: Path
    go: Callable[[], Path]
    offline: bool = False
    handed: Path | None = None
    tell: Callable[[str], None] = lambda text: None

    def tree(self, name: str, upstream: Upstream) -> Path:
        """Return a folder that holds `upstream.tree.dir` exactly as locked.

        Args:
            name: the upstream's name in upstream.lock.
            upstream: its entry.

        Raises:
            UnavailableError: no channel has it.
            SourceError: it is not what the lock says.
        """
        if upstream.tree is None:
            raise SourceError(
                f"upstream {name}",
                "upstream.lock has no tree for it, but a kustomization uses its files",
                f"add upstreams.{name}.tree to upstream.lock",
            )
        kept = self.folder / f"{name}-{upstream.tree.sha256[:32]}"
        if kept.is_dir():
            if _is_whole(kept / upstream.tree.dir, upstream.tree.sha256):
                return kept
            shutil.rmtree(kept)  # a damaged copy: fetch it anew
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=self.folder) as scratch:
            fetched = self._fetch(name, upstream, Path(scratch))
            return _keep(name, upstream, upstream.tree, fetched, Path(scratch), kept)

    def measure(self, name: str, upstream: Upstream, folder: str) -> str:
        """Return the digest of a folder of `upstream` as its channels give it now; the lock's digest does not count.

        Args:
            name: the upstream's name.
            upstream: its entry, of which the ref and the version count.
            folder: of the upstream tree.

        Raises:
            SourceError: no channel has it, or it has no such folder.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=self.folder) as scratch:
            found = self._fetch(name, upstream, Path(scratch)) / folder
            if not found.is_dir():
                raise SourceError(
                    f"upstream {name}",
                    f"has no folder {folder} at {upstream.ref}",
                    "choose another version, or edit its folder in upstream.lock",
                )
            return tree_digest(found)

    def _fetch(self, name: str, upstream: Upstream, scratch: Path) -> Path:
        """Return a folder that holds the tree: the module's, else the one that was handed over, else git's."""
        causes: list[str] = []
        if upstream.module and upstream.version:
            try:
                return gomod.download(
                    upstream.module, upstream.version, go=self.go(), modcache=self.modcache, offline=self.offline
                )
            except SourceError as error:
                if gomod.contradicts(error):
                    remedy = "find out who changed it: the proxy (GOPROXY), or upstream its tag; take no other channel"
                    raise SourceError(f"upstream {name}", error.cause, remedy) from error
                if gomod.is_unchecked(error):
                    self.tell(
                        f"upstream {name}: Go's checksum database did not vouch for {upstream.module}: {error.cause}"
                    )
                causes.append(error.cause)
        if (folder := self._handed_over(upstream)) is not None:
            return folder
        if self.offline:
            raise UnavailableError(f"upstream {name}", f"is not on this machine at {upstream.ref}", "modelyard render")
        try:
            cloned = git.clone(upstream.git, upstream.ref, upstream.commit, into=scratch / "clone")
            return cloned / upstream.path
        except SourceError as error:
            causes.append(error.cause)
        raise UnavailableError(
            f"upstream {name}",
            f"cannot be had at {upstream.ref}: " + "; ".join(causes),
            "check the network and the proxy settings (GOPROXY, HTTPS_PROXY), or put its files into "
            f"$MODELYARD_UPSTREAMS/{_handed_name(upstream)}, then run the same command again",
        )

    def _handed_over(self, upstream: Upstream) -> Path | None:
        if self.handed is None:
            return None
        folder = self.handed / _handed_name(upstream) / upstream.path
        return folder if folder.is_dir() else None


def _handed_name(upstream: Upstream) -> str:
    repository = upstream.git.removesuffix(".git").rpartition("/")[2]
    return f"{repository}-{upstream.ref.replace('/', '-')}"


def _keep(name: str, upstream: Upstream, tree: Tree, fetched: Path, scratch: Path, kept: Path) -> Path:
    source = fetched / tree.dir
    if not source.is_dir():
        raise SourceError(
            f"upstream {name}", f"has no folder {tree.dir} at {upstream.ref}", f"edit upstreams.{name}.tree"
        )
    for _ in entries(source):  # nothing is copied that has no place in it: a pipe would never end
        pass
    copy = scratch / "tree"
    # copyfile: a module cache is read-only, its copy must be removable
    shutil.copytree(source, copy / tree.dir, symlinks=True, copy_function=shutil.copyfile)
    _make_writable(copy)
    found = tree_digest(copy / tree.dir)
    if found != tree.sha256:
        raise SourceError(
            f"upstream {name}",
            f"folder {tree.dir} at {upstream.ref} has digest {found}, upstream.lock has {tree.sha256}",
            f"find out who changed it; if the change is meant, set upstreams.{name}.tree.sha256 to {found}",
        )
    with _lost_race(kept):
        copy.rename(kept)
    return kept


def _is_whole(folder: Path, digest: str) -> bool:
    try:
        return tree_digest(folder) == digest
    except (SourceError, OSError):
        return False


def _make_writable(folder: Path) -> None:
    for base, _, _ in os.walk(folder):
        Path(base).chmod(0o755)


@contextmanager
def _lost_race(kept: Path) -> Iterator[None]:
    """Let another process that kept the same tree first have won."""
    try:
        yield
    except OSError:
        if not kept.is_dir():
            raise
