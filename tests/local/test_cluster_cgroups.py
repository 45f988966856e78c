"""A pod's limits on a real cluster, in the version of cgroups that the machine has.

| version | what must hold |
| --- | --- |
| both | the limit is the kernel's, below the node's own group |
| 2 | controllers are enabled down to the pod, and no group that has children has a process |
"""

from __future__ import annotations

from pathlib import Path

from cluster_helpers import Kubectl, pod

from modelyard.local import ClusterInfo
from modelyard.local.host.cgroups import find_cgroups
from modelyard.local.state.layout import layout

_LIMIT = 67 << 20


def test_limit_of_a_pod_is_the_kernels_below_its_nodes_own_group(cluster: ClusterInfo, kubectl: Kubectl) -> None:
    limited = pod("limited")
    limited["spec"]["containers"][0]["resources"] = {"limits": {"memory": str(_LIMIT), "cpu": "100m"}}
    kubectl.apply(limited)
    kubectl.wait_ready("limited")
    cgroups = find_cgroups()
    node = layout(cluster.name).cgroup + "/node-1"
    file = "memory.max" if cgroups.version == 2 else "memory.limit_in_bytes"
    found = {path for root in cgroups.roots for path in (root / node).rglob(file)}
    assert [path for path in found if path.read_text().strip() == str(_LIMIT)]
    if cgroups.version == 2:
        _holds_the_rules_of_version_2(cgroups.roots[0] / layout(cluster.name).cgroup)
    kubectl("delete", "pod", "limited", "--wait=false")


def _holds_the_rules_of_version_2(tree: Path) -> None:
    inner = [group for group in tree.rglob("kubepods*") if any(each.is_dir() for each in group.iterdir())]
    assert inner
    for group in [tree, tree / "node-1", *inner]:
        assert "memory" in (group / "cgroup.subtree_control").read_text(), group
        assert not (group / "cgroup.procs").read_text().strip(), group
