"""The Go module channel: the upstream tree as its published module, checked by the checksum database."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from modelyard.errors import SourceError
from modelyard.programs import run

TIMEOUT_SECONDS = 300
_USERS = frozenset({"GOINSECURE", "GONOPROXY", "GONOSUMDB", "GOPRIVATE", "GOPROXY", "GOSUMDB"})


def download(module: str, version: str, *, go: Path, modcache: Path, offline: bool = False) -> Path:
    """Return the folder of `module` at `version`, downloaded unless the module cache has it.

    Args:
        module: module path.
        version: module version.
        go: the go command.
        modcache: a module cache of our own (GOMODCACHE).
        offline: take it from the module cache only.

    Raises:
        SourceError: the proxy has no such version, the checksum database contradicts, or go cannot run.
    """
    answer = _go(("mod", "download"), module, version, go=go, modcache=modcache, offline=offline)
    if not answer.get("Dir"):
        raise SourceError(f"module {module}@{version}", "go mod download: gave no folder")
    return Path(str(answer["Dir"]))


@dataclass(frozen=True, slots=True)
class Resolved:
    """A module version, and the commit it was made of; empty where the proxy does not say."""

    version: str
    commit: str


def resolve(module: str, query: str, *, go: Path, modcache: Path) -> Resolved:
    """Return the version that `query` names ("v1.2.3", "latest").

    Raises:
        SourceError: the proxy knows none, or go cannot run.
    """
    answer = _go(("list", "-m"), module, query, go=go, modcache=modcache, offline=False)
    origin = answer.get("Origin")
    commit = origin.get("Hash") if isinstance(origin, dict) else None
    return Resolved(str(answer.get("Version", "")), str(commit or ""))


def _go(
    command: tuple[str, str], module: str, version: str, *, go: Path, modcache: Path, offline: bool
) -> dict[str, object]:
    """Return what a go command says of a module version."""
    subject, shown = f"module {module}@{version}", " ".join(("go", *command))
    with tempfile.TemporaryDirectory(prefix="modelyard-go-") as empty:  # no go.mod: nothing to edit
        done = run(
            [go, *command, "-json", f"{module}@{version}"],
            cwd=empty,
            env=go_environment(modcache) | ({"GOPROXY": "off"} if offline else {}),
            seconds=TIMEOUT_SECONDS,
        )
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        answer = {}
    if done.problem:
        raise SourceError(subject, f"{shown}: {answer.get('Error') or ' '.join(done.stderr.split()) or done.problem}")
    return dict(answer)


def contradicts(error: SourceError) -> bool:
    """Tell whether Go found other content than its checksum database has: no other channel may hide that."""
    return "checksum mismatch" in error.cause or "SECURITY ERROR" in error.cause


def is_unchecked(error: SourceError) -> bool:
    """Tell whether the checksum database could not be asked: the proxy's files were not taken for that alone."""
    return "verifying" in error.cause


def go_environment(modcache: Path) -> dict[str, str]:
    """Return the environment in which go runs: it writes beside `modcache` only, and fetches no other toolchain.

    Of the user's settings those hold that say where modules come from and which database vouches for them:
    upstream.lock and go.sum say what they must be in any case.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GO") or name in _USERS}
    return kept | {
        "GOCACHE": str(modcache.parent / "build"),
        "GOENV": "off",
        "GOFLAGS": "",
        "GOMODCACHE": str(modcache),
        # The checksum database keeps its own notes under GOPATH; by default that is ~/go.
        "GOPATH": str(modcache.parent),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
