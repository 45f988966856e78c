"""Install a recipe's locked packages into an unpacked root file system, for its Python."""

from __future__ import annotations

import fnmatch
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path

from modelyard.errors import BuildError
from modelyard.local.build.python_lock import PLATFORM, PYTHON_VERSION
from modelyard.programs import Children

SITE = "usr/local/lib/python3.11/dist-packages"  # on the path of Debian's Python, before its own packages
_PYTHON = "/usr/bin/python3"
# What is written anew on each machine, and read by package installers only.
UNWANTED = ("*.dist-info/RECORD", "*.dist-info/INSTALLER", "*.dist-info/REQUESTED", "*.dist-info/uv_*", ".lock")


def install(lock: Path, rootfs: Path, cache: Path, children: Children) -> Path:
    """Install the packages of `lock`, wheels only and by their hashes; return their folder.

    Args:
        lock: requirements with hashes.
        rootfs: the unpacked root file system.
        cache: uv's cache; on the same file system as `rootfs`, files are linked, not copied.
        children: runs uv.

    Raises:
        BuildError: a package cannot be had, or is not the locked one.
    """
    site = rootfs / SITE
    done = children.run(
        [sys.executable, "-P", "-m", "uv", "pip", "install", "--quiet", "--requirement", lock, "--target", site,
         "--require-hashes", "--no-deps", "--only-binary", ":all:", "--python", sys.executable,
         "--python-version", PYTHON_VERSION, "--python-platform", PLATFORM, "--cache-dir", cache]
    )  # fmt: skip
    if done.problem:
        raise BuildError(
            f"recipe {lock.parent.name}",
            done.stderr.strip()[-1500:] or done.problem,
            "check the network, then the same command again",
        )
    return site


def drop(site: Path, patterns: Sequence[str]) -> list[str]:
    """Delete the files that match, before time is spent on them; return their names."""
    gone = []
    for parent, _, names in os.walk(site):
        for name in names:
            path = Path(parent) / name
            relative = path.relative_to(site).as_posix()
            if any(fnmatch.fnmatchcase(relative, pattern) for pattern in patterns):
                path.unlink()
                gone.append(name)
    return gone


def take_scripts(site: Path) -> Mapping[str, bytes]:
    """Return the packages' commands for the image's Python, and delete those that were made for this machine's."""
    made = site / "bin"
    commands = {path.name: path.read_bytes() for path in sorted(made.iterdir())} if made.is_dir() else {}
    shutil.rmtree(made, ignore_errors=True)
    points = {
        point.name: point.value
        for distribution in distributions(path=[str(site)])
        for point in distribution.entry_points
        if point.group == "console_scripts"
    }
    return {name: _command(name, content, points) for name, content in sorted(commands.items())}


def compile_all(rootfs: Path, children: Children) -> None:
    """Compile every module of the packages with the image's own Python.

    Unchecked hashes rather than times: the image's files have none, and nothing changes under them.

    Raises:
        BuildError: the image's Python does not run here.
    """
    # compileall's workers share semaphores, which are files there.
    (rootfs / "dev/shm").mkdir(parents=True, exist_ok=True)
    confined = ["chroot", str(rootfs)] if os.geteuid() == 0 else ["unshare", "--map-root-user", f"--root={rootfs}"]
    done = children.run(
        [*confined, _PYTHON, "-P", "-m", "compileall", "-q", "-q", "-j", str(os.cpu_count() or 1),
         "--invalidation-mode", "unchecked-hash", f"/{SITE}"]
    )  # fmt: skip
    # 1 without a word: some file is no valid Python (packages ship templates); it is left as it is.
    if done.code not in (0, 1) or done.stderr.strip():
        raise BuildError("Python image", f"compileall ended with {done.code}: {done.stderr.strip()[-500:]}")


def _command(name: str, content: bytes, points: Mapping[str, str]) -> bytes:
    if name in points:
        module, _, attribute = points[name].partition(":")
        function = attribute.split("[")[0].strip()
        top = function.split(".")[0]
        return f"#!{_PYTHON}\nimport sys\nfrom {module.strip()} import {top}\nsys.exit({function}())\n".encode()
    first, _, rest = content.partition(b"\n")
    if first.startswith(b"#!") and b"python" in first:
        return f"#!{_PYTHON}\n".encode() + rest
    return content
