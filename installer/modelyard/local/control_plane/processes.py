"""Command lines of the control plane: pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from modelyard.local.host.addresses import API_PORT, GATEWAY, POD_CIDR, SERVICE_CIDR
from modelyard.local.state.layout import Layout
from modelyard.local.state.plan import Component, Gate

ETCD_ADDRESS = "127.0.0.1:2379"
API_ADDRESS = f"127.0.0.1:{API_PORT}"


def etcd(binaries: Mapping[str, Path], layout: Layout, *, fsync: bool) -> Component:
    """Return etcd.

    With `fsync` off, a killed process still loses nothing, as the kernel has its writes; a power cut may
    lose them.
    """
    argv = [
        str(binaries["etcd"]),
        "--name=modelyard",
        f"--data-dir={layout.etcd}",
        f"--listen-client-urls=http://{ETCD_ADDRESS}",
        f"--advertise-client-urls=http://{ETCD_ADDRESS}",
        "--listen-peer-urls=http://127.0.0.1:2380",
        "--initial-advertise-peer-urls=http://127.0.0.1:2380",
        "--initial-cluster=modelyard=http://127.0.0.1:2380",
        "--log-level=warn",
    ]
    return Component("etcd", argv if fsync else [*argv, "--unsafe-no-fsync"], stop_seconds=5.0)


def apiserver(binaries: Mapping[str, Path], layout: Layout) -> Component:
    """Return kube-apiserver."""
    pki = layout.pki
    argv = [
        str(binaries["kube-apiserver"]),
        f"--etcd-servers=http://{ETCD_ADDRESS}",
        f"--secure-port={API_PORT}",
        f"--advertise-address={GATEWAY}",
        f"--service-cluster-ip-range={SERVICE_CIDR}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged=true",
        f"--client-ca-file={pki}/ca.crt",
        f"--tls-cert-file={pki}/apiserver.crt",
        f"--tls-private-key-file={pki}/apiserver.key",
        f"--kubelet-certificate-authority={pki}/ca.crt",
        f"--kubelet-client-certificate={pki}/kubelet-client.crt",
        f"--kubelet-client-key={pki}/kubelet-client.key",
        "--kubelet-preferred-address-types=InternalIP",  # else `logs` looks node names up in DNS
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={pki}/sa.pub",
        f"--service-account-signing-key-file={pki}/sa.key",
        f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        f"--proxy-client-cert-file={pki}/front-proxy-client.crt",
        f"--proxy-client-key-file={pki}/front-proxy-client.key",
        "--enable-aggregator-routing=true",  # webhooks and APIServices by pod IP: no kube-proxy runs here
        "--endpoint-reconciler-type=master-count",  # one apiserver: no lease to renew
        "--profiling=false",
    ]
    # With the platform's CRDs 670 MB of its heap live; Go's default lets it grow to twice that, this to half more.
    env = {"GOGC": "50"}
    return Component("kube-apiserver", argv, env=env, gates=[Gate("tcp", ETCD_ADDRESS)], stop_seconds=4.0)


def controller_manager(binaries: Mapping[str, Path], layout: Layout) -> Component:
    """Return kube-controller-manager."""
    pki = layout.pki
    config = layout.config / "controller-manager.kubeconfig"
    argv = [
        str(binaries["kube-controller-manager"]),
        f"--kubeconfig={config}",
        f"--authentication-kubeconfig={config}",
        f"--authorization-kubeconfig={config}",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={pki}/sa.key",
        f"--root-ca-file={pki}/ca.crt",
        f"--cluster-signing-cert-file={pki}/ca.crt",
        f"--cluster-signing-key-file={pki}/ca.key",
        f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
        f"--client-ca-file={pki}/ca.crt",
        f"--cluster-cidr={POD_CIDR}",
        "--allocate-node-cidrs=false",  # nodes have their ranges by their number
        "--kube-api-qps=300",  # at the default of 20 its hundred first requests take 6 s
        "--kube-api-burst=600",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        "--profiling=false",
    ]
    return Component("kube-controller-manager", argv, gates=[Gate("tcp", API_ADDRESS)])


def scheduler(binaries: Mapping[str, Path], layout: Layout) -> Component:
    """Return kube-scheduler."""
    config = layout.config / "scheduler.kubeconfig"
    argv = [
        str(binaries["kube-scheduler"]),
        f"--kubeconfig={config}",
        f"--authentication-kubeconfig={config}",
        f"--authorization-kubeconfig={config}",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        "--profiling=false",
    ]
    return Component("kube-scheduler", argv, gates=[Gate("tcp", API_ADDRESS)])
