"""Faults of NICs, on interfaces that the test makes on a node and takes away: none that the node needs is touched.

Two ends of a veth are a NIC and the other end of its cable; a VXLAN whose far end nobody can reach cannot send.
"""

from __future__ import annotations

from conformance.support.pods import container, pod_spec
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace

Labels = dict[str, str]

# The namespace must let its pods change the node's interfaces.
PRIVILEGED = {"pod-security.kubernetes.io/enforce": "privileged"}
# A path that no node has, of the range for documentation (RFC 5737).
NOWHERE = "192.0.2.77"
# Longer than it takes Prometheus to see that it was up.
UP_SECONDS = 45
# Frames of the type for experiments (IEEE 802, 0x88b5): nothing takes them, so the kernel counts each as dropped.
PROGRAM = """
import os, signal, socket, subprocess, sys, time
name, nowhere, up_seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
def ip(*arguments, check=True):
    subprocess.run(["ip", *arguments], check=check, preexec_fn=lambda: os.chroot("/node"))
def end(*_):
    for link in ("a", "c", "v"):
        ip("link", "delete", name + link, check=False)
    ip("route", "delete", "unreachable", nowhere, check=False)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
for one, other in (("a", "b"), ("c", "d")):
    ip("link", "add", name + one, "type", "veth", "peer", "name", name + other)
    ip("link", "set", name + one, "up")
    ip("link", "set", name + other, "up")
ip("route", "add", "unreachable", nowhere)
ip("link", "add", name + "v", "type", "vxlan", "id", "7777", "remote", nowhere, "dstport", "14789")
ip("link", "set", name + "v", "up")
def sender(link):
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    made.bind((name + link, 0))
    return made
frame = b"\\xff" * 6 + b"\\x02\\x00\\x00\\x00\\x00\\x01" + b"\\x88\\xb5" + bytes(60)
senders = [sender("d"), sender("v")]
began, plugged = time.monotonic(), True
print("READY", flush=True)
while True:
    for each in senders:
        each.send(frame)
    if plugged and time.monotonic() - began > up_seconds:
        ip("link", "set", name + "b", "down")
        plugged = False
    time.sleep(0.05)
"""


def cause(workspace: Workspace) -> list[Labels]:
    """Cause them, and return the alerts that must follow.

    Args:
        workspace: with the labels PRIVILEGED; the interfaces' names end as its name does.
    """
    name = f"cf{workspace.name.rpartition('-')[2]}"
    runs = container(
        ["python3", "-c", PROGRAM, name, NOWHERE, str(UP_SECONDS)],
        securityContext={"runAsUser": 0, "capabilities": {"add": ["NET_ADMIN", "NET_RAW", "SYS_CHROOT"]}},
        volumeMounts=[{"name": "node", "mountPath": "/node", "readOnly": True}],
    )
    spec = {
        **pod_spec(runs),
        "hostNetwork": True,
        "terminationGracePeriodSeconds": 15,  # it takes its interfaces away
        "volumes": [{"name": "node", "hostPath": {"path": "/"}}],
    }
    workspace.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "nics"}, "spec": spec})
    said = wait_for(
        "the interfaces are there", lambda: workspace.logs("nics"), lambda log: "READY" in log or "Err" in log
    )
    assert "READY" in said, said
    return [
        {"alertname": "NICDown", "device": f"{name}a"},
        {"alertname": "NICDrops", "device": f"{name}c"},
        {"alertname": "NICErrors", "device": f"{name}v"},
    ]
