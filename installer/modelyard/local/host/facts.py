"""What the machine has, as the preflight checks need to know it."""

from __future__ import annotations

import os
import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from modelyard.local.build.store import Store
from modelyard.local.host.cgroups import find_cgroups, missing_controllers
from modelyard.local.host.procfs import inotify_used
from modelyard.programs import run

PROGRAMS = (
    "unshare", "nsenter", "mount", "ip", "iptables", "iptables-save", "iptables-restore", "conntrack", "socat",
    "mmdebstrap",
)  # fmt: skip
DEBIAN_PROGRAMS = ("apt-get", "dpkg-deb")  # of Debian itself: where they lack, no package brings them
FILE_SYSTEMS = ("overlay", "tmpfs", "proc", "sysfs")
MODPROBE_SECONDS = 60.0
_FILLED_MIB = 512  # of the store: Go and Debian's packages, which come first, take 330, the binaries twice as much
_CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_CHROOT": 18, "CAP_SYS_ADMIN": 21}  # linux/capability.h


@dataclass(frozen=True, slots=True)
class HostFacts:
    """Facts of a machine.

    Args:
        uid: effective user id.
        cpus: CPUs that this process may use.
        memory_mib: memory in MiB.
        memory_available_mib: memory that is free or can be had, in MiB.
        disk_free_mib: free space of the state folder's file system, in MiB.
        state_file_system: type of that file system ("ext4").
        cache_free_mib: free space of the cache's file system, in MiB; None where nothing is to be built.
        cache_filled: whether the cache holds the cluster's binaries already.
        machine: architecture, as the kernel names it ("x86_64").
        kernel: version of Linux, its first two numbers.
        tried: what the user asks to try although this project never saw it run ($MODELYARD_TRY).
        cgroup_version: 1 or 2.
        missing_controllers: cgroup controllers that a kubelet needs and the machine lacks.
        missing_capabilities: rights that root lacks here (in a container without privileges).
        missing_file_systems: file systems that the kernel lacks and has no module for.
        missing_programs: programs that are not on PATH.
        bridge_netfilter: whether bridged packets can pass iptables (Services need it).
        inotify_limit: fs.inotify.max_user_instances, which all clusters of a user share.
        inotify_used: how many of them are in use.
        namespaces: namespaces that the kernel has ("pid", "mnt" ...).
    """

    uid: int
    cpus: int
    memory_mib: int
    memory_available_mib: int
    disk_free_mib: int
    state_file_system: str
    cache_free_mib: int | None
    cache_filled: bool
    machine: str
    kernel: tuple[int, int]
    tried: frozenset[str]
    cgroup_version: int
    missing_controllers: tuple[str, ...]
    missing_capabilities: tuple[str, ...]
    missing_file_systems: tuple[str, ...]
    missing_programs: tuple[str, ...]
    bridge_netfilter: bool
    inotify_limit: int
    inotify_used: int
    namespaces: tuple[str, ...]


def gather(state: Path, cache: Path | None = None) -> HostFacts:
    """Return this machine's facts.

    Args:
        state: where a cluster's files are to be; it need not be there.
        cache: where binaries and images are built, not there either; None where nothing is to be built.
    """
    folder = _nearest(state)
    cgroups = find_cgroups()
    path = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
    return HostFacts(
        uid=os.geteuid(),
        cpus=len(os.sched_getaffinity(0)),
        memory_mib=_memory("MemTotal"),
        memory_available_mib=_memory("MemAvailable"),
        disk_free_mib=shutil.disk_usage(folder).free >> 20,
        state_file_system=_file_system(folder),
        cache_free_mib=shutil.disk_usage(_nearest(cache)).free >> 20 if cache else None,
        cache_filled=cache is not None and _is_filled(cache),
        machine=platform.machine(),
        kernel=_kernel(platform.release()),
        tried=frozenset(os.environ.get("MODELYARD_TRY", "").replace(",", " ").split()),
        cgroup_version=cgroups.version,
        missing_controllers=tuple(missing_controllers(cgroups)),
        missing_capabilities=_missing_capabilities(),
        missing_file_systems=tuple(name for name in FILE_SYSTEMS if not (has_file_system(name) or loadable(name))),
        missing_programs=tuple(name for name in (*PROGRAMS, *DEBIAN_PROGRAMS) if shutil.which(name, path=path) is None),
        bridge_netfilter=has_bridge_netfilter() or loadable("br_netfilter"),
        inotify_limit=int(Path("/proc/sys/fs/inotify/max_user_instances").read_text()),
        inotify_used=inotify_used(os.geteuid()),
        namespaces=tuple(sorted(entry.name for entry in Path("/proc/self/ns").iterdir())),
    )


def has_file_system(name: str) -> bool:
    """Whether the kernel has the file system `name` now; its module may not be loaded yet."""
    return name in {line.split()[-1] for line in Path("/proc/filesystems").read_text().splitlines()}


def has_bridge_netfilter() -> bool:
    """Whether bridged packets pass iptables now."""
    return Path("/proc/sys/net/bridge/bridge-nf-call-iptables").exists()


def loadable(module: str) -> bool:
    """Whether the kernel module `module` can be loaded."""
    modprobe = shutil.which("modprobe", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    return modprobe is not None and not run([modprobe, "-n", "-q", module], seconds=MODPROBE_SECONDS).problem


def _is_filled(cache: Path) -> bool:
    return sum(entry.size for entry in Store(cache / "store").entries()) >> 20 >= _FILLED_MIB


def _missing_capabilities() -> tuple[str, ...]:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            effective = int(line.split()[1], 16)
            return tuple(name for name, bit in _CAPABILITIES.items() if not effective >> bit & 1)
    return ()


def _kernel(release: str) -> tuple[int, int]:
    major, minor, *_ = [int(number) for number in re.findall(r"\d+", release)] + [0, 0]
    return major, minor


def _nearest(path: Path) -> Path:
    while not os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises where a parent may not be read
        path = path.parent
    return path


def _memory(field: str) -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) >> 10
    return 0


def _file_system(folder: Path) -> str:
    """Return the type of the file system that holds `folder` (the longest mount point that contains it)."""
    best, kind = "", ""
    real = str(folder.resolve())
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, point, found, *_ = line.split()
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, found
    return kind
