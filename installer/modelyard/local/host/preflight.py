"""What a machine must have before a cluster can start on it: pure.

`doctor` shows all of these checks; `up` refuses on the first that fails.
"""

from __future__ import annotations

from dataclasses import dataclass

from modelyard.errors import HostError
from modelyard.local.host.facts import DEBIAN_PROGRAMS, HostFacts

CGROUP_V2 = "cgroup-v2"
TRIED = ("aarch64", CGROUP_V2)  # what MODELYARD_TRY may name
MIN_KERNEL = (5, 12)
MIN_CPUS = 2
MIN_MEMORY_MIB = 4096
MIN_AVAILABLE_MIB = 1536
MIN_DISK_MIB = 5120
# Of the cache. Nearly all of it goes to Go's caches and to packing images, at the first install; the check is for
# that. Later builds take little, and one that meets a full disk all the same says so.
MIN_EMPTY_CACHE_MIB = 25 * 1024
MIN_FILLED_CACHE_MIB = 2 * 1024
MIN_INOTIFY = 24  # a cluster takes 21; each controller that runs on it takes 3 more
_NAMESPACES = ("ipc", "mnt", "net", "pid", "uts")
_NO_OVERLAY_ON = ("overlay", "nfs", "nfs4", "9p", "virtiofs", "fuse", "vfat", "ecryptfs")
PACKAGES = {
    "unshare": "util-linux", "nsenter": "util-linux", "mount": "mount", "ip": "iproute2", "iptables": "iptables",
    "iptables-save": "iptables", "iptables-restore": "iptables", "conntrack": "conntrack", "socat": "socat",
    "mmdebstrap": "mmdebstrap",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the machine.

    Args:
        name: what is checked.
        ok: whether the machine has it.
        found: what it has, in words.
        needed: what it needs, in words.
        remedy: the next command to type; empty where it is ok.
    """

    name: str
    ok: bool
    found: str
    needed: str
    remedy: str = ""


def checks(host: HostFacts) -> list[Check]:
    """Return every check of the embedded cluster on `host`, the most basic first."""
    return [
        _root(host),
        _capabilities(host),
        _kernel(host),
        _machine(host),
        _namespaces(host),
        _controllers(host),
        _cgroup_version(host),
        _file_systems(host),
        _state_file_system(host),
        _debian(host),
        _programs(host),
        _bridge(host),
        _amount("CPUs", host.cpus, MIN_CPUS, "", "use a machine with more CPUs"),
        _amount("memory", host.memory_mib, MIN_MEMORY_MIB, " MiB", "use a machine with more memory"),
        _amount(
            "available memory", host.memory_available_mib, MIN_AVAILABLE_MIB, " MiB",
            "end what uses the memory (`ps aux --sort=-rss | head` shows it)",
        ),
        _amount(
            "disk space", host.disk_free_mib, MIN_DISK_MIB, " MiB",
            "`modelyard local prune`, or set MODELYARD_STATE_DIR to a folder on a larger disk",
        ),
        _cache_space(host),
        _inotify(host),
    ]  # fmt: skip


def require(host: HostFacts) -> None:
    """Refuse a machine that lacks something.

    Raises:
        HostError: for the first check that fails; it names the others.
    """
    failed = [check for check in checks(host) if not check.ok]
    if failed:
        first = failed[0]
        others = ", ".join(check.name for check in failed[1:])
        cause = f"{first.found}, but {first.needed} is needed"
        raise HostError(first.name, cause + (f" (also wrong: {others})" if others else ""), first.remedy)


def _root(host: HostFacts) -> Check:
    ok = host.uid == 0
    remedy = "" if ok else "sudo -E modelyard local up  (namespaces, mounts and cgroups need root)"
    return Check("root", ok, f"user id {host.uid}", "user id 0", remedy)


def _capabilities(host: HostFacts) -> Check:
    missing = host.missing_capabilities if host.uid == 0 else ()  # for others, `root` says it all
    return _lacking("capabilities", missing, "give the container that this runs in all rights (--privileged)")


def _kernel(host: HostFacts) -> Check:
    found, needed = (f"Linux {major}.{minor}" for major, minor in (host.kernel, MIN_KERNEL))
    ok = host.kernel >= MIN_KERNEL
    # mount_setattr(2): a node's view of the machine is read-only, with all that is mounted below it.
    return Check("kernel", ok, found, f"at least {needed}", "" if ok else "use Debian 12's kernel or a later one")


def _machine(host: HostFacts) -> Check:
    if host.machine == "x86_64":
        return Check("architecture", True, host.machine, "x86_64")
    known = host.machine in TRIED
    return _unseen("architecture", host, host.machine, "x86_64", "use a machine with x86-64") if known else Check(
        "architecture", False, host.machine, "x86_64", "use a machine with x86-64"
    )  # fmt: skip


def _cgroup_version(host: HostFacts) -> Check:
    if host.cgroup_version == 1:
        return Check("cgroup version", True, "1", "1")
    return _unseen("cgroup version", host, CGROUP_V2, "version 1", "boot with systemd.unified_cgroup_hierarchy=0")


def _unseen(name: str, host: HostFacts, what: str, needed: str, other: str) -> Check:
    """Return the check of something that is written for, and was never seen to run."""
    if what in host.tried:
        return Check(name, True, f"{what}, tried as asked for: this project has not seen it run", needed)
    remedy = f"MODELYARD_TRY={what} before the same command tries it all the same; or {other}"
    return Check(name, False, f"{what}, which this project has not seen run", needed, remedy)


def _namespaces(host: HostFacts) -> Check:
    missing = [name for name in _NAMESPACES if name not in host.namespaces]
    return _lacking("kernel namespaces", missing, "a kernel with them (CONFIG_NAMESPACES)")


def _controllers(host: HostFacts) -> Check:
    remedy = "mount the cgroup file systems (systemd does), or allow them in the container that this runs in"
    return _lacking(f"cgroup controllers (version {host.cgroup_version})", host.missing_controllers, remedy)


def _file_systems(host: HostFacts) -> Check:
    missing = host.missing_file_systems
    return _lacking("kernel file systems", missing, f"apt-get install kmod && modprobe -a {' '.join(missing)}")


def _state_file_system(host: HostFacts) -> Check:
    bad = host.state_file_system in _NO_OVERLAY_ON or host.state_file_system.startswith("fuse.")
    remedy = "set MODELYARD_STATE_DIR to a folder on ext4, xfs or btrfs" if bad else ""
    needed = "one that carries overlay mounts (ext4, xfs, btrfs)"
    return Check("state folder's file system", not bad, host.state_file_system, needed, remedy)


def _debian(host: HostFacts) -> Check:
    missing = [name for name in host.missing_programs if name in DEBIAN_PROGRAMS]
    return _lacking(
        "Debian's apt", missing, "use a machine with Debian 12: containerd, runc and images come from there"
    )


def _programs(host: HostFacts) -> Check:
    missing = [name for name in host.missing_programs if name in PACKAGES]
    packages = sorted({PACKAGES[name] for name in missing})
    return _lacking("programs", missing, f"apt-get install {' '.join(packages)}")


def _bridge(host: HostFacts) -> Check:
    ok = host.bridge_netfilter
    found = "bridged packets can pass iptables" if ok else "bridged packets cannot pass iptables"
    return Check(
        "bridge netfilter", ok, found, "br_netfilter", "" if ok else "apt-get install kmod && modprobe br_netfilter"
    )


def _cache_space(host: HostFacts) -> Check:
    name = "disk space of the cache"
    if host.cache_free_mib is None:
        return Check(name, True, "nothing is to be built", "none")
    if host.cache_filled:
        remedy = "`modelyard local prune`, or set MODELYARD_CACHE_DIR to a folder on a larger disk"
        return _amount(name, host.cache_free_mib, MIN_FILLED_CACHE_MIB, " MiB", remedy)
    remedy = "set MODELYARD_CACHE_DIR (or --cache-dir) to a folder on a larger disk"
    return _amount(name, host.cache_free_mib, MIN_EMPTY_CACHE_MIB, " MiB", remedy)


def _inotify(host: HostFacts) -> Check:
    free = host.inotify_limit - host.inotify_used
    ok = free >= MIN_INOTIFY
    remedy = "" if ok else f"sysctl -w fs.inotify.max_user_instances={max(512, 4 * host.inotify_limit)}"
    found = f"{free} of {host.inotify_limit} free"
    return Check("inotify instances", ok, found, f"at least {MIN_INOTIFY} free", remedy)


def _amount(name: str, found: int, needed: int, unit: str, remedy: str) -> Check:
    ok = found >= needed
    return Check(name, ok, f"{found}{unit}", f"at least {needed}{unit}", "" if ok else remedy)


def _lacking(name: str, missing: list[str] | tuple[str, ...], remedy: str) -> Check:
    found = f"missing: {', '.join(missing)}" if missing else "all there"
    return Check(name, not missing, found, "all of them", remedy if missing else "")
