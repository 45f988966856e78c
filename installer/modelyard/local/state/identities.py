"""Who is who in a cluster: which certificates there are, and the kubeconfig files of the components."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path

from modelyard.local.host.addresses import API_PORT, GATEWAY, KUBERNETES_SERVICE, NodeAddress
from modelyard.local.host.files import write_private
from modelyard.local.state import pki
from modelyard.local.state.layout import Layout
from modelyard.local.state.pki import Leaf

CONTROL_PLANE_URL = f"https://127.0.0.1:{API_PORT}"
NODE_URL = f"https://{GATEWAY}:{API_PORT}"
_CLIENTS = (
    Leaf("admin", "modelyard-admin", ("system:masters",)),
    Leaf("controller-manager", "system:kube-controller-manager"),
    Leaf("scheduler", "system:kube-scheduler"),
    Leaf("kube-proxy", "system:kube-proxy"),
    Leaf("coredns", "system:coredns"),
    Leaf("kwok", "system:kwok"),
    # The apiserver's right to kubelets is cluster-admin's, as kubeadm gives it.
    Leaf("kubelet-client", "kube-apiserver-kubelet-client", ("system:masters",)),
)
_APISERVER = Leaf(
    "apiserver",
    "kube-apiserver",
    hosts=(
        "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
        "localhost", "127.0.0.1", GATEWAY, KUBERNETES_SERVICE,
    ),
)  # fmt: skip


def node_leaf(node: NodeAddress) -> Leaf:
    """Return the certificate of `node`'s kubelet, as client and as server."""
    return Leaf(f"kubelet-{node.name}", f"system:node:{node.name}", ("system:nodes",), hosts=(node.name, node.ip))


def make_identities(layout: Layout, nodes: Sequence[NodeAddress], port: int) -> None:
    """Write all keys, certificates and kubeconfig files of the cluster.

    Args:
        layout: the cluster's paths.
        nodes: its nodes.
        port: the apiserver's port on the host.

    Raises:
        LocalClusterError: an authority of an earlier `up` cannot be read.
    """
    folder = layout.pki
    cluster = pki.authority(folder, "ca")
    front = pki.authority(folder, "front-proxy-ca")
    pki.service_account_key(folder)
    pki.issue(folder, cluster, [*_CLIENTS, _APISERVER, *map(node_leaf, nodes)])
    pki.issue(folder, front, [Leaf("front-proxy-client", "front-proxy-client")])
    for name in ("controller-manager", "scheduler", "coredns", "kwok"):
        _write_kubeconfig(layout.config / f"{name}.kubeconfig", folder, name, CONTROL_PLANE_URL)
    _write_kubeconfig(layout.kubeconfig, folder, "admin", f"https://127.0.0.1:{port}", context_name(layout.name))


def context_name(cluster: str) -> str:
    """Return the kubeconfig context of `cluster`, as kind names its own."""
    return f"modelyard-{cluster}"


def kubeconfig(folder: Path, leaf: str, server: str, context: str = "default") -> dict[str, object]:
    """Return a kubeconfig for the client `leaf` of the keys in `folder`, everything embedded."""

    def embedded(file: str) -> str:
        return base64.b64encode((folder / file).read_bytes()).decode()

    cluster = {"server": server, "certificate-authority-data": embedded("ca.crt")}
    user = {
        "client-certificate-data": embedded(f"{leaf}.crt"),
        "client-key-data": embedded(f"{leaf}.key"),
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": context, "cluster": cluster}],
        "users": [{"name": context, "user": user}],
        "contexts": [{"name": context, "context": {"cluster": context, "user": context}}],
        "current-context": context,
    }


def _write_kubeconfig(path: Path, folder: Path, leaf: str, server: str, context: str = "default") -> None:
    # JSON is YAML: the components and kubectl read it, and it needs no YAML library here.
    write_private(path, json.dumps(kubeconfig(folder, leaf, server, context), indent=1))
