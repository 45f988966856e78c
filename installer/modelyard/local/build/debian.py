"""Debian packages: host tools by apt; containerd and runc unpacked into the store, so that no service starts."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from modelyard.errors import BuildError, HostError
from modelyard.events import Emit
from modelyard.local.build.failing import require
from modelyard.local.build.store import Store, digest
from modelyard.programs import Ended, run
from modelyard.steps import step

# What the supervisor and the image builder call on the host.
HOST_PACKAGES: tuple[str, ...] = ("conntrack", "iproute2", "iptables", "mmdebstrap", "socat")
# Unpacked, not installed: installing containerd would start its service on the host.
RUNTIME_PACKAGES: tuple[str, ...] = ("containerd", "runc")


_APT_SECONDS = 1800.0
_LOCAL_SECONDS = 300.0  # nothing is downloaded


def ensure_host_packages(emit: Emit) -> None:
    """Install by apt what the supervisor and the image builder call and the machine lacks.

    Without root or without apt nothing is done: the checks of the machine then say what it lacks.

    Args:
        emit: receives one step, if something has to be installed.

    Raises:
        HostError: apt refused.
    """
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    if missing := _missing(HOST_PACKAGES):
        with step(emit, "host:packages", "install Debian packages") as finish:
            _install(missing)
            finish(", ".join(missing))


def _missing(names: Sequence[str]) -> list[str]:
    # It exits 1 when one is unknown, and still lists the others.
    shown = ("dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\n", *names)
    done = run(shown, seconds=_LOCAL_SECONDS)
    installed = {line.split()[0] for line in done.text.splitlines() if line.endswith(" installed")}
    return [name for name in names if name not in installed]


def _install(names: Sequence[str]) -> None:
    done = _apt("install", "--yes", "--quiet", "--no-install-recommends", *names)
    if done.problem:
        _apt("update", "--quiet")
        done = _apt("install", "--yes", "--quiet", "--no-install-recommends", *names)
    if done.problem:
        raise HostError(
            f"Debian packages {' '.join(names)}",
            done.problem,
            f"apt-get install {' '.join(names)}",
        )


def unpack_runtime(store: Store) -> Path:
    """Return a folder with containerd and runc at their usual paths (usr/bin/containerd, usr/sbin/runc)."""
    return unpack(store, RUNTIME_PACKAGES)


def unpack(store: Store, packages: Sequence[str]) -> Path:
    """Return a folder with the files of Debian packages, which are not installed: none of their services starts.

    Raises:
        BuildError: apt cannot download them.
    """
    return store.get("debian", digest(*packages, _release()), lambda target: _unpack(packages, target))


def _unpack(packages: Sequence[str], target: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="modelyard-deb-") as scratch:
        Path(scratch).chmod(0o777)  # apt drops to its own user for downloads
        done = _apt("download", *packages, cwd=scratch)
        if done.problem:
            _apt("update", "--quiet")
            done = _apt("download", *packages, cwd=scratch)
        archives = sorted(Path(scratch).glob("*.deb"))
        if done.problem or len(archives) != len(packages):
            raise BuildError(
                f"Debian packages {' '.join(packages)}",
                done.problem or f"apt-get downloaded {len(archives)} files",
                "apt-get update, then run the same command again",
            )
        target.mkdir()
        for archive in archives:
            require(run(["dpkg-deb", "--extract", archive, target], seconds=_LOCAL_SECONDS), f"files of {archive.name}")


def _apt(*arguments: str, cwd: str | None = None) -> Ended:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    # Another apt may be at work on this machine: wait for it rather than fail. A mirror may stop answering.
    waits = ("-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=2", "-o", "Acquire::http::Timeout=60")
    return run(["apt-get", *waits, *arguments], cwd=cwd, env=environment, seconds=_APT_SECONDS, finish=True)


def _release() -> str:
    release = Path("/etc/os-release")
    return release.read_text() if release.is_file() else "unknown"
