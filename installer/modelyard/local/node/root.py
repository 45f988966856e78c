"""What is in a node's root file system.

A node sees the machine's programs and devices, read-only, and nothing else of its disk: its /etc, /var, /opt and /tmp
are folders of the cluster's state. So all default paths hold for pods that mount them (/var/lib/kubelet,
/opt/cni/bin, /etc/cni/net.d, /var/log/pods), and a hostPath volume cannot leave anything on the machine.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from modelyard.local.node.tree import NodeTree

_FOLDERS = (
    "boot", "dev", "etc/cni/net.d", "etc/kubernetes/manifests", "etc/ssl", "home", "mnt", "opt/cni/bin",
    "proc", "root", "run", "srv", "sys", "tmp", "usr", "var/lib/cni", "var/lib/containerd",
    "var/lib/kubelet", "var/log/containers", "var/log/pods", "var/tmp",
)  # fmt: skip

# A kubelet sets these sysctls, which belong to the whole machine. It finds them set already, here, and leaves
# the machine's alone. Source: setupKernelTunables in k8s.io/kubernetes/pkg/kubelet/cm.
SYSCTLS = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1000000,
    "kernel/keys/root_maxbytes": 25000000,
}
SYSCTL_FILES = "etc/modelyard/sysctl"


def prepare(root: Path, node: str, files: dict[str, str]) -> None:
    """Make the folders and the `files` (path in the root to content) of a node's root on disk.

    Pods may have written there: whatever they left, nothing outside `root` is touched.

    Raises:
        OSError: the file system refused.
    """
    root.mkdir(parents=True, exist_ok=True)
    texts = {
        "etc/hostname": f"{node}\n",
        "etc/hosts": f"127.0.0.1 localhost\n::1 localhost\n127.0.1.1 {node}\n",
        "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
        "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
        "etc/group": "root:x:0:\nnogroup:x:65534:\n",
        **{f"{SYSCTL_FILES}/{name}": f"{value}\n" for name, value in SYSCTLS.items()},
        **files,
    }
    with contextlib.closing(NodeTree(root)) as tree:
        for folder in _FOLDERS:
            tree.folder(folder)
        for folder in ("tmp", "var/tmp"):
            tree.folder(folder, mode=0o1777)
        tree.link("var/run", "/run")
        for path, text in texts.items():
            tree.write(path, text, mode=_mode(path))


def _mode(path: str) -> int:
    if path.endswith((".kubeconfig", ".key")):
        return 0o600
    return 0o755 if path.startswith("opt/cni/bin/") else 0o644
