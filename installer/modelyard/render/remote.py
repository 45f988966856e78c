"""Remote references in kustomizations: which locked upstream, and which of its files. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from urllib.parse import parse_qs, urlsplit

from modelyard.catalog.models import Upstream
from modelyard.errors import CatalogError


class RefKind(StrEnum):
    """What a remote reference names."""

    FOLDER = "folder"
    FILE = "file"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class RemoteRef:
    """A remote reference, resolved to a locked upstream.

    Args:
        upstream: its name in upstream.lock.
        kind: a folder, a file, or the release manifest.
        path: below the folder that the upstream's module is; empty for a release manifest.
    """

    upstream: str
    kind: RefKind
    path: PurePosixPath


def is_remote(entry: str) -> bool:
    """Tell whether kustomize would fetch `entry` from elsewhere."""
    head = entry.split("/", 1)[0]
    return "://" in entry or entry.startswith("git@") or (head not in (".", "..") and head.endswith(".com"))


def resolve(entry: str, upstreams: Mapping[str, Upstream], *, shown: str) -> RemoteRef:
    """Return which locked upstream `entry` names.

    Args:
        entry: an entry of a kustomization's `resources` or `components`.
        upstreams: those of upstream.lock.
        shown: the kustomization's file name, for people.

    Raises:
        CatalogError: no upstream has that repository, or the ref is not the locked one.
    """
    kind, repository, ref, path = _parse(entry, shown)
    matching = {name: up for name, up in upstreams.items() if up.git.removesuffix(".git") == repository}
    if not matching:
        raise CatalogError(
            shown, f"names {entry}, and no upstream in upstream.lock has git {repository}", f"edit {shown}"
        )
    locked = [name for name, upstream in sorted(matching.items()) if upstream.ref == ref]
    if locked:  # of several folders of one repository, the one that covers it
        name = next((each for each in locked if _covers(upstreams[each], path)), locked[0])
        return RemoteRef(name, kind, _inside(path, upstreams[name], name, entry, shown))
    name, upstream = min(matching.items())
    raise CatalogError(
        shown,
        f"names {entry} at ref {ref or '(none)'}, upstream.lock has {name} at {upstream.ref}",
        f"make the two the same: {shown} and upstreams.{name}.ref",
    )


def _parse(entry: str, shown: str) -> tuple[RefKind, str, str, PurePosixPath]:
    url = urlsplit(entry)
    base = f"{url.scheme}://{url.netloc}"
    if url.netloc == "raw.githubusercontent.com":
        owner, repository, ref, *rest = url.path.strip("/").split("/")
        return RefKind.FILE, f"https://github.com/{owner}/{repository}", ref, PurePosixPath(*rest)
    if "/releases/download/" in url.path:
        repository, _, rest_of_path = url.path.partition("/releases/download/")
        return RefKind.RELEASE, base + repository, rest_of_path.split("/", 1)[0], PurePosixPath()
    if url.scheme != "https" or not url.netloc:
        raise CatalogError(shown, f"names {entry}, which is not an https:// reference", f"edit {shown}")
    repository, _, folder = url.path.partition("//")
    if not folder:  # https://host/owner/repository/folder
        parts = url.path.strip("/").split("/")
        repository, folder = "/" + "/".join(parts[:2]), "/".join(parts[2:])
    ref = (parse_qs(url.query).get("ref") or parse_qs(url.query).get("version") or [""])[0]
    return RefKind.FOLDER, base + repository.removesuffix(".git"), ref, PurePosixPath(folder)


def _covers(upstream: Upstream, path: PurePosixPath) -> bool:
    covered = _covered(upstream)
    return path == PurePosixPath() or path == covered or covered in path.parents


def _covered(upstream: Upstream) -> PurePosixPath:
    """Return the folder of the repository that is locked."""
    return PurePosixPath(upstream.path) / (upstream.tree.dir if upstream.tree else "")


def _inside(path: PurePosixPath, upstream: Upstream, name: str, entry: str, shown: str) -> PurePosixPath:
    """Return `path` below the module's folder, if the locked tree covers it."""
    if path == PurePosixPath():
        return path
    if not _covers(upstream, path):
        raise CatalogError(
            shown,
            f"names {entry}, outside of {_covered(upstream)}, the folder that is locked",
            f"edit upstreams.{name}.tree",
        )
    return path.relative_to(upstream.path)
