"""A volume that outlives pods: dynamic where the cluster has a default StorageClass, else a folder of one node."""

from __future__ import annotations

from conformance.support.removal import Removal
from conformance.support.workspace import Workspace
from modelyard.objects import GroupKind, Object, ObjectRef, annotations_of, labels_of, mappings, text

FOLDER = "/var/lib/modelyard/volumes"
_NODE = GroupKind("", "Node")
_CLASS = GroupKind("storage.k8s.io", "StorageClass")
_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_HOSTNAME = "kubernetes.io/hostname"


class Volumes:
    """Makes claims in a namespace, and removes what is behind them.

    Args:
        workspace: where the claims are.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._made: list[ObjectRef] = []

    def claim(self, name: str, *, size: str = "1Gi") -> str:
        """Make a claim that several pods may mount and write; return its name.

        Args:
            name: the claim's name.
            size: how much it asks for.
        """
        spec: dict[str, object] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
        if not self._dynamic():
            spec |= {"storageClassName": "", "volumeName": self._static(name, size)}
        self._workspace.create(
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}
        )
        return name

    def remove(self, removal: Removal) -> None:
        """Remove the volumes; the claims go with their namespace."""
        for ref in self._made:
            removal.remove(ref)

    def _dynamic(self) -> bool:
        listing = self._workspace.session.list(_CLASS)
        return any(annotations_of(each).get(_DEFAULT) == "true" for each in (listing.items if listing else ()))

    def _static(self, claim: str, size: str) -> str:
        """Make a volume that is a folder of the first node on which ordinary pods run."""
        name = f"{self._workspace.name}-{claim}"
        here = {"key": _HOSTNAME, "operator": "In", "values": [self._node()]}
        spec = {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
            "claimRef": {"namespace": self._workspace.name, "name": claim},
            "hostPath": {"path": f"{FOLDER}/{name}", "type": "DirectoryOrCreate"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        }
        self._made.append(ObjectRef("", "PersistentVolume", "", name))
        self._workspace.session.create(
            {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}
        )
        return name

    def _node(self) -> str:
        listing = self._workspace.session.list(_NODE)
        nodes = [node for node in (listing.items if listing else ()) if _takes_pods(node)]
        assert nodes, "no node takes ordinary pods"
        return labels_of(nodes[0]).get(_HOSTNAME, text(nodes[0], "metadata", "name"))


def _takes_pods(node: Object) -> bool:
    ready = any(
        text(each, "type") == "Ready" and text(each, "status") == "True"
        for each in mappings(node, "status", "conditions")
    )
    # Simulated nodes (kwok) are tainted.
    return ready and not mappings(node, "spec", "taints")
