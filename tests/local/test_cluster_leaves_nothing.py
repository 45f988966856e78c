"""What the host sees of a cluster: one port while it lives, nothing afterwards, however it ends.

| ends by | process | mount, link, route, rule | cgroup | data |
| --- | --- | --- | --- | --- |
| down | none | as before | none | kept |
| kill -9 of the supervisor | none | as before | gone with the next command | kept |
| kill -9 of `unshare` above it | none | as before | gone with the next command | kept |
| Ctrl-C during up | none | as before | none | kept |
| down --delete | none | as before | none | none |
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_helpers import Kubectl, eventually, pod

from modelyard.local import ClusterInfo, down, load_image, status
from modelyard.local.host.cgroups import find_cgroups, sweep
from modelyard.local.host.procfs import identify, pids_inside
from modelyard.local.state.layout import layout


def host_view() -> dict[str, str]:
    """Return all that a cluster could leave on the host."""
    commands = {
        "links": "ip -o link show | cut -d: -f2 | sort",
        "addresses": "ip -br addr show",
        "routes": "ip route show table all",
        "rules": "ip rule show",
        "filters": "(iptables-save; ip6tables-save) | grep -v '^#' | sed 's/\\[.*\\]//'",
        "mounts": "cut -d' ' -f2,3 /proc/self/mounts | sort",
        "folders": "ls -d /var/lib/kubelet /var/lib/containerd /var/lib/cni /etc/cni /opt/cni /run/containerd "
        "/var/run/netns /etc/kubernetes 2>/dev/null || true",
        "programs": "find /usr/local /opt -xdev | sort",
        "sysctls": "sysctl -n vm.overcommit_memory kernel.panic kernel.panic_on_oops net.ipv4.ip_forward",
    }
    return {
        what: subprocess.run(["bash", "-c", command], text=True, capture_output=True, check=False).stdout
        for what, command in commands.items()
    }


def cgroups_of(name: str) -> list[Path]:
    return [root / layout(name).cgroup for root in find_cgroups().roots if (root / layout(name).cgroup).exists()]


# What of the machine a pod sees that mounts all of its node, and may not write.
_MACHINES = (
    "/usr/local/bin/modelyard-test", "/etc/ssl/modelyard-test", "/dev/modelyard-test", "/sys/fs/cgroup/modelyard-test",
    "/proc/sys/vm/swappiness", "/sys/module/overlay/parameters/metacopy",
)  # fmt: skip


def on_the_node(name: str) -> dict[str, Any]:
    """Return a pod that has its node's whole root at /node."""
    mounted = pod(name, volumes=[{"name": "node", "hostPath": {"path": "/"}}])
    mounted["spec"]["containers"][0]["volumeMounts"] = [{"name": "node", "mountPath": "/node"}]
    return mounted


def listening(info: ClusterInfo) -> list[str]:
    """Return the addresses on which the cluster's processes listen in the host's network."""
    inside = {info.supervisor_pid, *pids_inside(info.supervisor_pid).values()}
    lines = subprocess.run(["ss", "-Hltunp"], text=True, capture_output=True, check=True).stdout.splitlines()
    owners = {line.split()[4]: {int(pid) for pid in re.findall(r"pid=(\d+)", line)} for line in lines}
    return [address for address, pids in owners.items() if pids & inside]


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_running_cluster_gives_the_host_nothing_but_a_port(
    own: Any, kubectl_for: Callable[[ClusterInfo], Kubectl], tools: Path
) -> None:
    before = host_view()
    info = own()
    load_image(info.name, tools)
    kubectl = kubectl_for(info)
    kubectl.apply(pod("inside"), on_the_node("writer"))
    kubectl.wait_ready("inside")
    kubectl.wait_ready("writer")
    assert host_view() == before
    assert listening(info) == [f"127.0.0.1:{info.port}"]
    tried = {path: kubectl.errors("exec", "writer", "--", "bash", "-c", f"echo 1 > /node{path}") for path in _MACHINES}
    assert {path for path, said in tried.items() if "Read-only file system" not in said} == set(), tried
    assert not [path for path in _MACHINES if path.endswith("modelyard-test") and Path(path).exists()]
    kubectl("exec", "writer", "--", "bash", "-c", "echo 1 > /node/srv/modelyard-test")
    assert not Path("/srv/modelyard-test").exists()
    assert host_view() == before
    down(info.name)
    assert host_view() == before
    assert not answers(info.port)
    assert cgroups_of(info.name) == []


@pytest.mark.parametrize("victim", ["supervisor", "unshare"])
def test_kill_9_leaves_nothing_and_up_brings_all_back(
    own: Any, kubectl_for: Callable[[ClusterInfo], Kubectl], tools: Path, victim: str
) -> None:
    before = host_view()
    info = own()
    load_image(info.name, tools)
    kubectl = kubectl_for(info)
    kubectl.apply(pod("inside"))
    kubectl.wait_ready("inside")
    inside = [process for pid in pids_inside(info.supervisor_pid).values() if (process := identify(pid))]
    assert len(inside) > 10

    os.kill(info.supervisor_pid if victim == "supervisor" else parent_of(info.supervisor_pid), signal.SIGKILL)

    eventually(lambda: not [each for each in inside if identify(each.pid) == each], "processes are gone")
    assert host_view() == before
    assert not status(info.name).running
    assert cgroups_of(info.name), "the test is of no use if the kernel removes them itself"
    eventually(lambda: sweep(find_cgroups()) == [] and not cgroups_of(info.name), "cgroups are gone")

    again = own()
    assert again.port == info.port
    assert not again.already_up
    kubectl.wait_ready("inside")
    assert kubectl("exec", "inside", "--", "hostname").strip() == "inside"


def test_interrupted_up_leaves_nothing_and_can_be_repeated(own: Any) -> None:
    name = own.name()
    program = f"""
import signal
from modelyard.events import StepProgress, discard
from modelyard.local.build.cluster_set import cluster_binaries
from modelyard.local import ClusterSpec, up
from modelyard.paths import cache_dir
def emit(event):
    if isinstance(event, StepProgress): print(event, flush=True)
up(ClusterSpec(name={name!r}), *cluster_binaries(cache_dir(), discard), emit)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"StepProgress"), "the supervisor runs by now"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=180)
    assert b"KeyboardInterrupt" in errors
    assert not status(name).running
    assert cgroups_of(name) == []
    assert own().name == name


def test_killed_launcher_leaves_a_known_cluster_or_none(own: Any) -> None:
    """kill -9 of `up` at any point: the next `up` ends with one cluster, not two."""
    name = own.name()
    program = f"""
import os, signal
from modelyard.events import discard
from modelyard.local.build.cluster_set import cluster_binaries
from modelyard.local import ClusterSpec, up
from modelyard.local.supervisor import launch
from modelyard.paths import cache_dir
launch.write_supervisor = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
up(ClusterSpec(name={name!r}), *cluster_binaries(cache_dir(), discard))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=180)
    assert done.returncode == -signal.SIGKILL
    log = layout(name).log("supervisor")
    eventually(lambda: "launcher ended" in log.read_text(), "the supervisor nobody knows ends by itself")
    assert own().name == name


def test_down_delete_removes_all_state(own: Any) -> None:
    info = own()
    down(info.name, delete=True)
    assert not layout(info.name).root.exists()
    assert cgroups_of(info.name) == []
