"""CoreDNS as a process of the cluster, and the objects that make it the cluster's DNS: pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from modelyard.local.control_plane.processes import API_ADDRESS
from modelyard.local.control_plane.rbac import bind_user
from modelyard.local.host.addresses import DNS_DOMAIN, DNS_SERVICE, GATEWAY
from modelyard.local.state.layout import Layout
from modelyard.local.state.plan import Component, Gate

HEALTH_PORT = 8181
_LABELS = {"k8s-app": "kube-dns", "app.kubernetes.io/managed-by": "modelyard"}


def coredns(binaries: Mapping[str, Path], layout: Layout) -> Component:
    """Return CoreDNS, which serves on the bridge; the Service leads there from every node."""
    argv = [str(binaries["coredns"]), f"-conf={layout.config / 'Corefile'}"]
    return Component("coredns", argv, gates=[Gate("tcp", API_ADDRESS)])


def corefile(layout: Layout) -> str:
    """Return CoreDNS's configuration.

    Names outside the cluster do not exist: it has no way out, and an answer at once beats a timeout.
    """
    return f"""{DNS_DOMAIN}:53 in-addr.arpa:53 ip6.arpa:53 {{
    bind {GATEWAY}
    errors
    kubernetes {DNS_DOMAIN} in-addr.arpa ip6.arpa {{
        kubeconfig {layout.config / "coredns.kubeconfig"}
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }}
    ready {GATEWAY}:{HEALTH_PORT}
    cache 30
    loadbalance
}}
.:53 {{
    bind {GATEWAY}
    template ANY ANY . {{
        rcode NXDOMAIN
    }}
}}
"""


def objects() -> list[tuple[str, dict[str, object]]]:
    """Return the objects of the cluster's DNS, each with its path on the apiserver."""
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    services = "/api/v1/namespaces/kube-system/services"
    slices = "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices"
    return [
        (f"{rbac}/clusterroles/system:coredns", _role()),
        (f"{rbac}/clusterrolebindings/system:coredns", bind_user("system:coredns")),
        (f"{services}/kube-dns", _service()),
        (f"{slices}/kube-dns-modelyard", _slice()),
    ]


def _role() -> dict[str, object]:
    read = ["get", "list", "watch"]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "system:coredns"},
        "rules": [
            {"apiGroups": [""], "resources": ["services", "pods", "namespaces"], "verbs": read},
            {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": read},
        ],
    }


def _service() -> dict[str, object]:
    ports = [
        {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
        {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
    ]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kube-dns", "namespace": "kube-system", "labels": _LABELS},
        "spec": {"clusterIP": DNS_SERVICE, "clusterIPs": [DNS_SERVICE], "ports": ports},  # no selector: see _slice
    }


def _slice() -> dict[str, object]:
    labels = {
        "kubernetes.io/service-name": "kube-dns",
        "endpointslice.kubernetes.io/managed-by": "modelyard",
    }
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "kube-dns-modelyard", "namespace": "kube-system", "labels": labels},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [GATEWAY], "conditions": {"ready": True}}],
        "ports": [
            {"name": "dns", "port": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
        ],
    }
