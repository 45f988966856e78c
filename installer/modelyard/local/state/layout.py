"""Where a cluster's files are: one folder a cluster, nothing outside it."""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from pathlib import Path

from modelyard.errors import LocalClusterError
from modelyard.local.host.files import make_private_dir, read_json, write_private
from modelyard.paths import state_dir

MARK = ".modelyard-cluster"
_SIGNATURE = "A cluster of `modelyard local up`.\n"
_ALWAYS_RECORDED = frozenset({"port", "nodes", "fake_nodes", "fake_gpus"})


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths of the cluster whose folder is `root`."""

    root: Path

    @property
    def name(self) -> str:
        """Cluster name."""
        return self.root.name

    @property
    def lock(self) -> Path:
        """Held by `up` and `down` while they work."""
        return self.root / "lock"

    @property
    def record(self) -> Path:
        """What the cluster is: port, nodes."""
        return self.root / "cluster.json"

    @property
    def supervisor(self) -> Path:
        """Which process the supervisor is."""
        return self.root / "supervisor.json"

    @property
    def plan(self) -> Path:
        """What the supervisor is to run."""
        return self.root / "plan.json"

    @property
    def health(self) -> Path:
        """What the supervisor last said about each component."""
        return self.root / "health.json"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig, by the host's port."""
        return self.root / "kubeconfig"

    @property
    def pki(self) -> Path:
        """Keys and certificates."""
        return self.root / "pki"

    @property
    def config(self) -> Path:
        """Configuration files of the control plane."""
        return self.root / "config"

    @property
    def binaries(self) -> Path:
        """Links to the control plane's binaries, by their names: a process is called as it was started."""
        return self.root / "bin"

    @property
    def etcd(self) -> Path:
        """etcd's data."""
        return self.root / "etcd"

    @property
    def etcd_first_start(self) -> Path:
        """There from before etcd's first start until it has served: what it has written till then may be unusable."""
        return self.root / "etcd.first-start"

    @property
    def logs(self) -> Path:
        """One log a component."""
        return self.root / "log"

    @property
    def nodes(self) -> Path:
        """One folder a node."""
        return self.root / "nodes"

    def log(self, component: str) -> Path:
        """Log of `component` ("kubelet@node-1" is a component too)."""
        return self.logs / f"{component}.log"

    def node_root(self, node: str) -> Path:
        """Root file system of `node`."""
        return self.nodes / node / "root"

    @property
    def cgroup(self) -> str:
        """The cluster's cgroup, relative to each hierarchy.

        Clusters of one name in two state folders must not meet: hence the digest.
        """
        digest = hashlib.sha256(str(self.root).encode()).hexdigest()[:8]
        return f"modelyard/{self.name}-{digest}"


def layout(name: str) -> Layout:
    """Return the paths of the cluster `name`."""
    return Layout(state_dir() / name)


def names() -> list[str]:
    """Return the names of all clusters that have state, sorted."""
    return sorted(entry.name for entry in _folders() if (entry / "cluster.json").is_file())


def half_made() -> list[str]:
    """Return the names of what an `up` left that was interrupted before it had written a record, sorted."""
    return sorted(entry.name for entry in _folders() if is_cluster(entry) and not (entry / "cluster.json").is_file())


def is_cluster(root: Path) -> bool:
    """Tell whether the folder `root` is a cluster's, and no other's: the state folder may be any that a user named.

    `up` marks the folders that it makes. Clusters of before it did so are known by their record.
    """
    with contextlib.suppress(OSError, ValueError):
        mark = root / MARK
        if not mark.is_symlink() and mark.is_file() and mark.read_text().startswith(_SIGNATURE):
            return True
        record = root / "cluster.json"
        known = read_json(record) if record.is_file() and not record.is_symlink() else None
        return known is not None and known.keys() >= _ALWAYS_RECORDED
    return False


def make_root(where: Layout) -> None:
    """Make the cluster's folder and mark it as one.

    Raises:
        LocalClusterError: there is a folder of this name that is somebody else's.
        OSError: it cannot be made.
    """
    make_private_dir(where.root)
    held = [entry.name for entry in where.root.iterdir() if not entry.name.startswith(f".{MARK}.")]  # half a mark
    if held and not is_cluster(where.root):
        raise LocalClusterError(
            f"folder {where.root}",
            f"it is there and was not made by `modelyard local up`: it holds {', '.join(sorted(held)[:3])}",
            "choose another --name, or set MODELYARD_STATE_DIR to a folder for clusters only",
        )
    if MARK not in held:
        write_private(where.root / MARK, _SIGNATURE + "`modelyard local down --delete` removes this folder.\n")


def _folders() -> list[Path]:
    base = state_dir()
    return [entry for entry in base.iterdir() if entry.is_dir() and not entry.is_symlink()] if base.is_dir() else []
