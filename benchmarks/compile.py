"""The time that compiling alone takes: the floor under any start from nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from modelyard.catalog import Catalog, GoBuild
from modelyard.local.build.binaries import CONTROL_PLANE, HELM, KUSTOMIZE, GoBinary, build_binary
from modelyard.local.build.store import Store
from modelyard.local.build.toolchain import GoToolchain

MODULE = "shared"


def binaries(catalog: Catalog, names: tuple[str, ...]) -> list[GoBinary]:
    """Return what the shared module builds for the components `names` and the cluster itself."""
    own = [binary for binary in (*CONTROL_PLANE, KUSTOMIZE, HELM) if binary.module == MODULE]
    for name in names:
        for image in catalog.component(name).images:
            build = image.build
            if isinstance(build, GoBuild) and build.module == MODULE:
                own.append(GoBinary(image.name.rpartition("/")[2], build.module, build.package, build.ldflags))
    return own


def pure_seconds(
    wanted: list[GoBinary], go: GoToolchain, modules: Path, scratch: Path, tell: Callable[[str], None]
) -> float:
    """Compile `wanted` one after the other from an empty build cache; return the seconds.

    Args:
        wanted: the binaries.
        go: the compiler.
        modules: a module cache that holds every module already: a download is no compiling.
        scratch: an empty folder for the build cache and the binaries.
        tell: takes a line for each binary.
    """
    (scratch / "go").mkdir(parents=True)
    (scratch / "go" / "mod").symlink_to(modules)
    toolchain = GoToolchain(go.go, go.version, scratch)
    began = time.monotonic()
    for binary in wanted:
        since = time.monotonic()
        build_binary(binary, toolchain, Store(scratch / "store"))
        tell(f"compiled {binary.name} ({time.monotonic() - since:.1f} s)")
    return time.monotonic() - began
