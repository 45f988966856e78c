"""The mark by which an embedded cluster is known, whatever kubeconfig leads to it. Pure.

`modelyard local up` puts it there, and nothing else does (docs/adr/0010-what-a-cluster-remembers.md). It names the
cluster that it was made for, so one that a backup brought to another cluster does not count.
"""

from __future__ import annotations

from modelyard.objects import Object, ObjectRef, annotations_of, strings
from modelyard.plan.inventory import CLUSTER

LOCAL = "local"  # the target whose overlays are for embedded clusters alone
REF = ObjectRef("", "ConfigMap", "kube-system", "modelyard-embedded")


def mark_object(name: str, *, cluster: str) -> dict[str, object]:
    """Return the mark of the embedded cluster `name`.

    Args:
        name: its name on its machine.
        cluster: the cluster's id.
    """
    return {
        "apiVersion": "v1",
        "kind": REF.kind,
        "metadata": {"name": REF.name, "namespace": REF.namespace, "annotations": {CLUSTER: cluster}},
        "data": {"name": name},
    }


def embedded_name(mark: Object | None, *, cluster: str) -> str:
    """Return the name of the embedded cluster that `mark` is of; empty where it marks no cluster, or another one."""
    if mark is None or not cluster or annotations_of(mark).get(CLUSTER) != cluster:
        return ""
    return strings(mark, "data").get("name", "")
