"""A node's mounts: what of the machine it sees, all of it read-only but for the node's own cgroup.

Every mount point is opened without following links (node_tree) and mounted over by that handle, as pods may have
written the folders that lie below.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from modelyard.local.host import linux
from modelyard.local.host.cgroups import MOUNT, find_cgroups
from modelyard.local.node.root import SYSCTL_FILES, SYSCTLS
from modelyard.local.node.tree import NodeTree
from modelyard.local.state.plan import NodePlan

_PROGRAMS = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
_FROM_ETC = ("alternatives", "ld.so.cache", "ssl", "iproute2", "protocols", "services", "localtime", "os-release")
_READ_ONLY = linux.MOUNT_ATTR_RDONLY | linux.MOUNT_ATTR_NOSUID
_FILES = _READ_ONLY | linux.MOUNT_ATTR_NODEV
# Parts of /proc that are the machine's. Source: ReadonlyPaths of a container in the OCI runtimes.
_MACHINES_PROC = ("bus", "fs", "irq", "sys", "sysrq-trigger")


def enter(node: NodePlan) -> None:
    """Mount the node's root and make it this process's; it must be in a mount namespace of its own.

    Raises:
        OSError: the kernel refused a mount; the error names the place.
    """
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    linux.bind(node.root, node.root)  # pivot_root wants a mount point
    with contextlib.closing(NodeTree(Path(node.root))) as tree:  # opened now: its handle is the new mount's
        _show_programs(tree)
        _show_kernel(tree)
        _show_cgroups(tree, node.cgroup)
        for source, target in node.binds.items():
            _show(tree, source, target.strip("/"))
        tree.enter()
    # As pivot_root(2) has it: the old root lies on the new one, and is taken away, without a folder for it.
    linux.pivot_root(".", ".")
    linux.unmount(".")
    os.chdir("/")
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_SHARED)  # for Bidirectional mount propagation


def _show_programs(tree: NodeTree) -> None:
    for name in _PROGRAMS:
        source = Path("/") / name
        if source.is_symlink():
            tree.link(name, os.readlink(source))  # noqa: PTH115 - wanted as it is written
        elif source.is_dir():
            _show(tree, str(source), name)
    for name in _FROM_ETC:
        if (source := Path("/etc") / name).exists():
            _show(tree, str(source), f"etc/{name}")


def _show_kernel(tree: NodeTree) -> None:
    # Devices can be used all the same; what is refused is to make, remove or chmod them.
    _show(tree, "/dev", "dev", attributes=_READ_ONLY)
    _mount(tree, "tmpfs", "dev/shm")
    _mount(tree, "tmpfs", "run", "mode=755")
    tree.folder("run/lock")
    _mount(tree, "proc", "proc")
    for name in _MACHINES_PROC:
        if (Path("/proc") / name).exists():
            _show(tree, f"/proc/{name}", f"proc/{name}")
    _bind(tree, "/proc/sys/net", "proc/sys/net")  # each network namespace's own
    for name in SYSCTLS:
        if (Path("/proc/sys") / name).exists():
            _bind(tree, str(tree.path / SYSCTL_FILES / name), f"proc/sys/{name}")
    _mount(tree, "sysfs", "sys")  # anew, as it shows this network namespace's links
    _protect(tree, "sys", folder=True, attributes=_FILES)


def _show_cgroups(tree: NodeTree, cgroup: str) -> None:
    _show(tree, str(MOUNT), "sys/fs/cgroup")
    for root in find_cgroups().roots:  # the node's own, in which the kubelet makes its pods'
        _bind(tree, str(root / cgroup), f"sys/fs/cgroup/{(root / cgroup).relative_to(MOUNT)}")


def _show(tree: NodeTree, source: str, path: str, *, attributes: int = _FILES) -> None:
    """Show `source` of the machine, and all that is mounted below it, at `path`: read-only."""
    _bind(tree, source, path)
    _protect(tree, path, folder=Path(source).is_dir(), attributes=attributes)


def _bind(tree: NodeTree, source: str, path: str) -> None:
    with _named(path), tree.place(path, folder=Path(source).is_dir()) as target:
        linux.bind(source, target, recursive=True)


def _protect(tree: NodeTree, path: str, *, folder: bool, attributes: int) -> None:
    with _named(path), tree.place(path, folder=folder) as seen:  # opened anew: now it is what was mounted
        linux.protect(seen, attributes)


def _mount(tree: NodeTree, kind: str, path: str, data: str = "") -> None:
    with _named(path), tree.place(path, folder=True) as target:
        linux.mount(kind, target, kind, linux.MS_NOSUID | linux.MS_NODEV, data)


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"/{path} of the node: {error.strerror}") from error
