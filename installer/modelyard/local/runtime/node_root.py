"""A node's root file system.

A node sees the machine's programs and devices, and nothing else of its disk: its /etc, /var, /opt and /tmp
are folders of the cluster's state. So all default paths hold for pods that mount them (/var/lib/kubelet,
/opt/cni/bin, /etc/cni/net.d, /var/log/pods), and a hostPath volume cannot leave anything on the machine.
"""

from __future__ import annotations

import os
from pathlib import Path

from modelyard.local.runtime import linux
from modelyard.local.runtime.plan import NodePlan

_PROGRAMS = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
_FOLDERS = (
    "boot", "dev", "etc/cni/net.d", "etc/kubernetes/manifests", "etc/ssl", "home", "mnt", "opt/cni/bin",
    "proc", "root", "run", "srv", "sys", "tmp", "usr", "var/lib/cni", "var/lib/containerd",
    "var/lib/kubelet", "var/log/containers", "var/log/pods", "var/tmp",
)  # fmt: skip
_FROM_ETC = ("alternatives", "ld.so.cache", "ssl", "iproute2", "protocols", "services", "localtime", "os-release")

# A kubelet sets these sysctls, which belong to the whole machine. It finds them set already, here, and leaves
# the machine's alone. Source: setupKernelTunables in k8s.io/kubernetes/pkg/kubelet/cm.
_SYSCTLS = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1000000,
    "kernel/keys/root_maxbytes": 25000000,
}


def prepare(root: Path, node: str, files: dict[str, str]) -> None:
    """Make the folders and the `files` (path in the root to content) of a node's root on disk."""
    for folder in _FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("tmp", "var/tmp"):
        (root / folder).chmod(0o1777)
    _link(root / "var/run", "/run")
    texts = {
        "etc/hostname": f"{node}\n",
        "etc/hosts": f"127.0.0.1 localhost\n::1 localhost\n127.0.1.1 {node}\n",
        "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
        "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
        "etc/group": "root:x:0:\nnogroup:x:65534:\n",
        **{f"etc/modelyard/sysctl/{name}": f"{value}\n" for name, value in _SYSCTLS.items()},
        **files,
    }
    for path, text in texts.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(0o600 if path.endswith((".kubeconfig", ".key")) else 0o644)


def enter(node: NodePlan) -> None:
    """Mount the node's root and make it this process's; it must be in a mount namespace of its own.

    Raises:
        OSError: the kernel refused a mount; the error names the target.
    """
    root = Path(node.root)
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    linux.bind(node.root, node.root)  # pivot_root wants a mount point
    _mount_programs(root)
    _mount_kernel(root)
    for source, target in node.binds.items():
        _bind_file(source, root / target.lstrip("/"))
    _pivot(root)
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_SHARED)  # for Bidirectional mount propagation


def _mount_programs(root: Path) -> None:
    for name in _PROGRAMS:
        source = Path("/") / name
        if source.is_symlink():
            _link(root / name, os.readlink(source))  # noqa: PTH115 - wanted as it is written
        elif source.is_dir():
            (root / name).mkdir(exist_ok=True)
            linux.bind(str(source), str(root / name), recursive=True)
    for name in _FROM_ETC:
        source, target = Path("/etc") / name, root / "etc" / name
        if source.is_dir():
            target.mkdir(exist_ok=True)
            linux.bind(str(source), str(target), read_only=True)
        elif source.is_file():
            _bind_file(str(source), target)


def _mount_kernel(root: Path) -> None:
    linux.bind("/dev", str(root / "dev"), recursive=True)
    linux.mount("tmpfs", str(root / "dev/shm"), "tmpfs", linux.MS_NOSUID | linux.MS_NODEV)
    linux.mount("tmpfs", str(root / "run"), "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=755")
    (root / "run/lock").mkdir()
    linux.mount("proc", str(root / "proc"), "proc")
    linux.mount("sysfs", str(root / "sys"), "sysfs")  # anew, as it shows this network namespace's links
    linux.bind("/sys/fs/cgroup", str(root / "sys/fs/cgroup"), recursive=True)
    for name in _SYSCTLS:
        if (root / "proc/sys" / name).exists():
            linux.bind(str(root / "etc/modelyard/sysctl" / name), str(root / "proc/sys" / name))


def _bind_file(source: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch(exist_ok=True)
    linux.bind(source, str(target), read_only=True)


def _pivot(root: Path) -> None:
    old = root / ".old"
    old.mkdir(exist_ok=True)
    linux.pivot_root(str(root), str(old))
    os.chdir("/")
    linux.unmount("/.old")
    Path("/.old").rmdir()


def _link(path: Path, target: str) -> None:
    if not path.is_symlink():
        path.symlink_to(target)
