"""The cluster's cgroups, in the hierarchies of version 1, or in the one of version 2.

Every cluster has one subtree `modelyard/NAME-DIGEST` with `system` for its own processes and one group a
node for the pods. Version 1 (and the hybrid layout) was run for real; version 2, which is what a fresh Debian 12
has, follows the kernel's cgroup-v2.rst but could not be run on the machine this was written on.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from modelyard.errors import LocalClusterError
from modelyard.local.host.files import locked

MOUNT = Path("/sys/fs/cgroup")
BASE = "modelyard"
# Of all clusters of the machine. Not the hierarchy's root: every user can open and lock that.
LOCK = Path("/run/modelyard.lock")
_PATIENCE = 60.0
_V2_CONTROLLERS = ("cpuset", "cpu", "io", "memory", "pids", "hugetlb")
_V2_NEEDED = {"cpu", "memory", "pids"}
_V1_NEEDED = {"cpu", "cpuacct", "cpuset", "memory", "pids", "devices", "freezer"}


@dataclass(frozen=True, slots=True)
class Cgroups:
    """The machine's hierarchies.

    Args:
        version: 1 or 2.
        roots: mount points of the hierarchies; one in version 2.
    """

    version: int
    roots: tuple[Path, ...]


def find_cgroups(mount: Path = MOUNT) -> Cgroups:
    """Return what is mounted below `mount`."""
    if (mount / "cgroup.controllers").is_file():
        return Cgroups(2, (mount,))
    roots = [entry for entry in sorted(mount.iterdir()) if _is_v1_root(entry)] if mount.is_dir() else []
    return Cgroups(1, tuple(roots))


def missing_controllers(cgroups: Cgroups) -> list[str]:
    """Return the controllers that a kubelet needs and the machine lacks, or shows read-only."""
    usable = [root for root in cgroups.roots if os.access(root, os.W_OK)]
    if cgroups.version == 2:
        present = {name for root in usable for name in (root / "cgroup.controllers").read_text().split()}
        return sorted(_V2_NEEDED - present)
    present = {name for root in usable for name in root.name.split(",")}
    return sorted(_V1_NEEDED - present)


def create(cgroups: Cgroups, path: str, nodes: list[str]) -> None:
    """Make the cluster's subtree `path` and put the calling process into its `system` group.

    Raises:
        OSError: the kernel refused.
        LocalClusterError: another command holds the machine's cgroups.
    """
    with _alone():  # against `sweep` of another command, between making and entering a group
        for root in cgroups.roots:
            for node in nodes:
                _make(cgroups.version, root, f"{path}/{node}")
            _make(cgroups.version, root, f"{path}/system")
            (root / path / "system" / "cgroup.procs").write_text("0")


def sweep(cgroups: Cgroups) -> list[str]:
    """Remove the subtrees of clusters that have no process left; return the names of those that are gone, sorted.

    A cluster that lives always has its supervisor in `system`, so its empty pods' groups are safe.

    Raises:
        LocalClusterError: another command holds the machine's cgroups.
    """
    removed = set()
    with _alone():
        for root in cgroups.roots:
            base = root / BASE
            if not base.is_dir():
                continue
            for tree in [entry for entry in base.iterdir() if entry.is_dir()]:
                if not _has_process(tree):
                    _remove(tree)
                    if not tree.exists():
                        removed.add(tree.name)
            with contextlib.suppress(OSError):  # not empty: another cluster lives
                base.rmdir()
    return sorted(removed)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    try:
        with locked(LOCK, patience=_PATIENCE):
            yield
    except BlockingIOError as error:
        raise LocalClusterError(
            f"lock {LOCK}",
            f"another command has held it for {_PATIENCE:g} s; it guards the machine's cgroups",
            f"`fuser -v {LOCK}` names the command; end it, then the same command again",
        ) from error


def _is_v1_root(entry: Path) -> bool:
    # In the hybrid layout `unified` is there too: without controllers, but runc puts its containers in it.
    return entry.is_dir() and not entry.is_symlink() and (entry / "cgroup.procs").is_file()


def _make(version: int, root: Path, path: str) -> None:
    current = root
    for part in path.split("/"):
        if version == 2:
            _enable_controllers(current)
        parent, current = current, current / part
        current.mkdir(exist_ok=True)
        if version == 1 and (current / "cpuset.cpus").is_file():
            _copy_cpuset(parent, current)


def _copy_cpuset(parent: Path, child: Path) -> None:
    # A new v1 cpuset is empty and takes no process.
    for name in ("cpuset.cpus", "cpuset.mems"):
        if not (child / name).read_text().strip():
            (child / name).write_text((parent / name).read_text())


def _enable_controllers(group: Path) -> None:
    available = set((group / "cgroup.controllers").read_text().split())
    enabled = set((group / "cgroup.subtree_control").read_text().split())
    wanted = " ".join(f"+{name}" for name in _V2_CONTROLLERS if name in available - enabled)
    if not wanted:
        return
    try:
        (group / "cgroup.subtree_control").write_text(wanted)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        _empty(group)
        (group / "cgroup.subtree_control").write_text(wanted)


def _empty(group: Path) -> None:
    """Move the processes of an inner group into its leaf `init`, as only leaves may hold some.

    The machine's own root is exempt from that rule. The root of a container that has a cgroup namespace of its own
    looks the same from inside but is not, and holds the container's processes. Source: cgroup-v2.rst, "No Internal
    Process Constraint"; docker:dind's entry point does the same.
    """
    leaf = group / "init"
    leaf.mkdir(exist_ok=True)
    for process in (group / "cgroup.procs").read_text().split():
        with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
            (leaf / "cgroup.procs").write_text(process)


def _has_process(tree: Path) -> bool:
    # First the group in which a cluster that lives has its supervisor: that spares the walk over its pods' groups.
    return _occupied(tree / "system") or any(_occupied(Path(folder)) for folder, _, _ in os.walk(tree))


def _occupied(group: Path) -> bool:
    with contextlib.suppress(OSError):  # it ended just now: ENOENT before its file is opened, ENODEV after
        return bool((group / "cgroup.procs").read_text().strip())
    return False


def _remove(tree: Path) -> None:
    for folder, _, _ in os.walk(tree, topdown=False):
        with contextlib.suppress(OSError):  # busy for a moment after a kill: the next sweep has it
            Path(folder).rmdir()
