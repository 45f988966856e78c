"""Merge a cluster's context into the user's kubeconfig, as kind does."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from modelyard.errors import LocalClusterError
from modelyard.local.host.files import write_private
from modelyard.local.state.identities import context_name
from modelyard.local.state.layout import layout
from modelyard.local.state.spec import check_name

_LISTS = ("clusters", "users", "contexts")
_LOCK_SECONDS = 5.0


def target_file(explicit: Path | None = None) -> Path:
    """Return the kubeconfig to merge into: `explicit`, the first of $KUBECONFIG, or ~/.kube/config.

    Source: kubectl's loading rules; with several files, a new entry goes into the first.
    """
    if explicit is not None:
        return explicit
    listed = [entry for entry in os.environ.get("KUBECONFIG", "").split(os.pathsep) if entry]
    return Path(listed[0]) if listed else Path("~/.kube/config").expanduser()


def kubeconfig_text(name: str) -> str:
    """Return the kubeconfig of the cluster `name` as YAML.

    Raises:
        LocalClusterError: there is no such cluster.
    """
    return str(yaml.safe_dump(_own(name), sort_keys=False))


def merge_kubeconfig(name: str, target: Path) -> str:
    """Put the context of the cluster `name` into `target` and make it current; return its name.

    Entries of others are kept. The file is replaced atomically, under the lock that kubectl takes, and has mode
    0600, as it holds a key now. It stays its owner's, and a new one goes to the owner of the folder: root, by sudo,
    must not lock a user out of a kubeconfig of his own.

    Raises:
        LocalClusterError: there is no such cluster, `target` is no kubeconfig, or another holds its lock.
    """
    own = _own(name)
    target = target.resolve()  # a link stays a link
    _make_folder(target.parent)
    with _lock(target):
        merged = merged_document(_read(target), own)
        _replace(target, merged)
    return context_name(name)


def forget_kubeconfig(name: str, target: Path) -> bool:
    """Take the context of the cluster `name` out of `target`; return whether it was there.

    Raises:
        LocalClusterError: `target` is no kubeconfig, or another holds its lock.
    """
    target = target.resolve()
    if not target.is_file():
        return False
    context = context_name(check_name(name))
    with _lock(target):
        document = _read(target)
        if context not in {entry.get("name") for key in _LISTS for entry in document.get(key) or []}:
            return False
        _replace(target, document_without(document, context))
    return True


def merged_document(document: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return `document` with the entries of `own` in place of those of the same names: pure."""
    result = {"apiVersion": "v1", "kind": "Config", **document}
    for key in _LISTS:
        fresh = {entry["name"] for entry in own[key]}
        result[key] = [entry for entry in document.get(key) or [] if entry.get("name") not in fresh] + own[key]
    result["current-context"] = own["current-context"]
    return result


def document_without(document: dict[str, Any], context: str) -> dict[str, Any]:
    """Return `document` without the entries named `context`: pure."""
    result = dict(document)
    for key in _LISTS:
        result[key] = [entry for entry in document.get(key) or [] if entry.get("name") != context]
    if result.get("current-context") == context:
        result["current-context"] = ""
    return result


def _make_folder(folder: Path) -> None:
    """Make `folder` and the parents that it lacks, each its own parent's owner's."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        _give(folder, _owner(folder.parent))


def _replace(target: Path, document: dict[str, Any]) -> None:
    owner = _owner(target if target.exists() else target.parent)
    text = yaml.safe_dump(document, sort_keys=False)
    write_private(target, text, owner=owner if os.geteuid() == 0 else None)  # only root may give files away


def _give(folder: Path, owner: tuple[int, int]) -> None:
    if os.geteuid() == 0:
        os.chown(folder, *owner)


def _owner(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_uid, status.st_gid


def _own(name: str) -> dict[str, Any]:
    where = layout(check_name(name))
    try:
        document: dict[str, Any] = json.loads(where.kubeconfig.read_text())
    except (FileNotFoundError, ValueError) as error:
        raise LocalClusterError(
            f"cluster {name}", "it has no kubeconfig: it was never up", f"modelyard local up --name {name}"
        ) from error
    return document


def _read(target: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(target.read_text())
    except FileNotFoundError:
        return {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _not_a_kubeconfig(target, str(error).replace("\n", " ")) from error
    if document is None:
        return {}
    if not isinstance(document, dict) or not all(_is_list_of_maps(document.get(key)) for key in _LISTS):
        raise _not_a_kubeconfig(target, "it is YAML, but not of that form")
    return document


def _is_list_of_maps(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(entry, dict) for entry in value))


def _not_a_kubeconfig(target: Path, cause: str) -> LocalClusterError:
    return LocalClusterError(
        f"file {target}",
        f"it is not a kubeconfig ({cause}), and is left as it is",
        "fix it, or `modelyard local kubeconfig --print > FILE`",
    )


@contextlib.contextmanager
def _lock(target: Path) -> Iterator[None]:
    """Hold the lock file that client-go's clientcmd makes beside a kubeconfig that it changes."""
    lock = target.with_name(f"{target.name}.lock")
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            break
        except FileExistsError as error:
            if time.monotonic() > deadline:
                raise LocalClusterError(
                    f"file {target}",
                    f"another program holds its lock for more than {_LOCK_SECONDS:g} s",
                    f"if none runs: rm {lock}",
                ) from error
            time.sleep(0.05)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
