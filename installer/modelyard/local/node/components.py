"""Command lines and files of a node: pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from modelyard.local.host.addresses import API_PORT, DNS_DOMAIN, DNS_SERVICE, GATEWAY, POD_CIDR, NodeAddress
from modelyard.local.state.plan import Component, Gate

BIN = "/opt/modelyard/bin"
ETC = "etc/modelyard"  # relative to the node's root
_CNI_VERSION, _NETWORK = "1.0.0", "modelyard"
_IPAM, _IPAM_CONFIG = "modelyard-ipam", f"{ETC}/ipam.json"
SOCKET = "/run/containerd/containerd.sock"
PAUSE = "registry.k8s.io/pause:3.10.1"
NODE_BINARIES = (
    "kubelet", "kube-proxy", "containerd", "containerd-shim-runc-v2", "ctr", "runc", "kubectl",
)  # fmt: skip
CNI_PLUGINS = ("bridge", "host-local", "loopback", "macvlan", "portmap", "static")
_PATH = f"{BIN}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ENV = {"PATH": _PATH, "HOME": "/root", "LANG": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class Reserve:
    """What one kubelet keeps from pods.

    Args:
        milli_cpu: thousandths of a CPU.
        memory_mib: MiB.
    """

    milli_cpu: int
    memory_mib: int


def reserve_per_node(cpus: int, memory_mib: int, nodes: int) -> Reserve:
    """Return what each of `nodes` kubelets must reserve.

    Every kubelet reports the whole machine. Each reserves what the others may give to pods and its share of
    the control plane's, so that the sum of what they offer is what the machine has left.
    """
    system_cpu = min(100 * cpus, 200)
    system_memory = min(2048, memory_mib // 4)
    offered_cpu = (1000 * cpus - system_cpu) // nodes
    offered_memory = (memory_mib - system_memory) // nodes
    return Reserve(1000 * cpus - offered_cpu, memory_mib - offered_memory)


def binds(binaries: Mapping[str, Path]) -> dict[str, str]:
    """Return which binaries a node sees where: path on the machine to path in its root."""
    shown = {str(binaries[name]): f"{BIN}/{name}" for name in NODE_BINARIES if name in binaries}
    # Copies, not binds, would survive a DaemonSet that replaces plugins; binds cost nothing and are read-only.
    return shown | {str(binaries[name]): f"/opt/cni/bin/{name}" for name in CNI_PLUGINS}


def files(
    node: NodeAddress, pki: Path, kubeconfigs: Mapping[str, str], cgroup: str, reserve: Reserve
) -> dict[str, str]:
    """Return the files of `node`: path in its root to content."""

    def key(name: str) -> str:
        return (pki / name).read_text()

    return {
        f"{ETC}/ca.crt": key("ca.crt"),
        f"{ETC}/kubelet.crt": key(f"kubelet-{node.name}.crt"),
        f"{ETC}/kubelet.key": key(f"kubelet-{node.name}.key"),
        f"{ETC}/kubelet.kubeconfig": kubeconfigs["kubelet"],
        f"{ETC}/kube-proxy.kubeconfig": kubeconfigs["kube-proxy"],
        f"{ETC}/kubelet.json": json.dumps(kubelet_config(cgroup, reserve), indent=1),
        f"{ETC}/containerd.toml": containerd_config(),
        "etc/cni/net.d/10-modelyard.conflist": json.dumps(cni_config(), indent=1),
        _IPAM_CONFIG: json.dumps(ipam_config(node), indent=1),
        f"opt/cni/bin/{_IPAM}": f"#!/bin/sh\nexec /opt/cni/bin/host-local </{_IPAM_CONFIG}\n",
        "etc/resolv.conf": f"nameserver {GATEWAY}\n",
    }


def containerd_config() -> str:
    """Return containerd's configuration (version 2 of its format, containerd 1.6)."""
    return f"""version = 2
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", \
"io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper"]
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE}"
  # A machine without CAP_SYS_RESOURCE refuses the scores that pods ask for, and every sandbox would fail.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/opt/cni/bin"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "{BIN}/runc"
"""


def cni_config() -> dict[str, object]:
    """Return a node's pod network: a bridge, routed."""
    bridge = {
        "type": "bridge", "bridge": "cni0", "isGateway": True, "ipMasq": False, "hairpinMode": True,
        "ipam": {"type": _IPAM},
    }  # fmt: skip
    portmap = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": _CNI_VERSION, "name": _NETWORK, "plugins": [bridge, portmap]}


def ipam_config(node: NodeAddress) -> dict[str, object]:
    """Return what host-local is told of the addresses of `node`, whatever the network's own configuration says.

    Multus 4.2.2 to 4.3.0 forgets an IPAM plugin's settings when a pod goes, so host-local would refuse to free the
    pod's address, and after some 250 pods there would be none: https://github.com/k8snetworkplumbingwg/multus-cni/pull/1521
    """
    ipam = {
        "type": "host-local",
        "ranges": [[{"subnet": node.pod_cidr}]],
        "routes": [{"dst": "0.0.0.0/0"}],
        # On tmpfs: leases of pods that a crash ended must not outlive them.
        "dataDir": "/run/cni-ipam-state",
    }
    return {"cniVersion": _CNI_VERSION, "name": _NETWORK, "ipam": ipam}


def kubelet_config(cgroup: str, reserve: Reserve) -> dict[str, object]:
    """Return the KubeletConfiguration of a node whose cgroup is `cgroup`."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"/{ETC}/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": f"/{ETC}/kubelet.crt",
        "tlsPrivateKeyFile": f"/{ETC}/kubelet.key",
        "cgroupDriver": "cgroupfs",  # no systemd runs inside
        "cgroupRoot": f"/{cgroup}",
        "failCgroupV1": False,
        "failSwapOn": False,
        "clusterDNS": [DNS_SERVICE],
        "clusterDomain": DNS_DOMAIN,
        "resolvConf": "/etc/resolv.conf",
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "staticPodPath": "/etc/kubernetes/manifests",
        # The disk is the machine's: a full one is for its owner to see, not for pods to be evicted early.
        "evictionHard": {
            "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%",
            "nodefs.inodesFree": "1%",
        },
        "imageGCHighThresholdPercent": 100,  # images come from the cache, and nothing could pull them again
        "imageGCLowThresholdPercent": 99,
        "systemReserved": {"cpu": f"{reserve.milli_cpu}m", "memory": f"{reserve.memory_mib}Mi"},
        "nodeStatusUpdateFrequency": "10s",
        "shutdownGracePeriod": "0s",
        "enableDebuggingHandlers": True,
    }  # fmt: skip


def components(node: NodeAddress, *, pause_image: Path) -> list[Component]:
    """Return the processes of `node`."""
    return [_containerd(node), _import_pause(node, pause_image), _kubelet(node), _kube_proxy(node)]


def _containerd(node: NodeAddress) -> Component:
    argv = [f"{BIN}/containerd", f"--config=/{ETC}/containerd.toml", "--log-level=warn"]
    return Component(f"containerd@{node.name}", argv, node.name, _ENV)


def _import_pause(node: NodeAddress, image: Path) -> Component:
    argv = [f"{BIN}/ctr", "--namespace=k8s.io", "images", "import", "-"]
    return Component(
        f"pause-image@{node.name}",
        argv,
        node.name,
        _ENV,
        gates=[Gate("unix", SOCKET)],
        once=True,
        stdin=str(image),
    )


def _kubelet(node: NodeAddress) -> Component:
    argv = [
        f"{BIN}/kubelet",
        f"--config=/{ETC}/kubelet.json",
        f"--kubeconfig=/{ETC}/kubelet.kubeconfig",
        f"--hostname-override={node.name}",
        f"--node-ip={node.ip}",
    ]
    gates = [Gate("unix", SOCKET), Gate("tcp", f"{GATEWAY}:{API_PORT}")]
    return Component(f"kubelet@{node.name}", argv, node.name, _ENV, gates)


def _kube_proxy(node: NodeAddress) -> Component:
    argv = [
        f"{BIN}/kube-proxy",
        f"--kubeconfig=/{ETC}/kube-proxy.kubeconfig",
        f"--hostname-override={node.name}",
        f"--cluster-cidr={POD_CIDR}",
        "--proxy-mode=iptables",
        "--conntrack-max-per-core=0",  # these sysctls are the machine's
        "--conntrack-tcp-timeout-established=0",
        "--conntrack-tcp-timeout-close-wait=0",
        "--metrics-bind-address=127.0.0.1:10249",
    ]
    return Component(f"kube-proxy@{node.name}", argv, node.name, _ENV, [Gate("tcp", f"{GATEWAY}:{API_PORT}")])
