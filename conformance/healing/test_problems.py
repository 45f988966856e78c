"""Real faults of a node become its conditions and events, with their reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from conformance.healing.nodes import real_node, wait_for_condition
from conformance.support.kinds import EVENT, POD
from conformance.support.pods import container, pod_spec, states
from conformance.support.removal import Removal
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace, open_workspace
from modelyard.cluster import Session
from modelyard.objects import Object, text

pytestmark = [pytest.mark.needs("node-problem-detector"), pytest.mark.proves("node-problem-detector")]

CONDITION = "ReadonlyFilesystem"
FOLDER = "/var/lib/node-problem-detector"
# Mounts an empty read-only file system over the folder into which the check writes, on the node itself; takes it away
# when the pod is told to stop. 1: MS_RDONLY; 2: MNT_DETACH.
READ_ONLY = f"""
import ctypes, os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
libc = ctypes.CDLL(None, use_errno=True)
path = b"{FOLDER}/written"
os.makedirs(path, exist_ok=True)
if libc.mount(b"tmpfs", path, b"tmpfs", 1, None):
    raise OSError(ctypes.get_errno(), "mount")
print("mounted", flush=True)
signal.sigwait([signal.SIGTERM])
libc.umount2(path, 2)
"""


@pytest.fixture
def privileged(session: Session, removal: Removal) -> Iterator[Workspace]:
    """A namespace whose pods may harm their node: that is what they are for."""
    workspace = open_workspace(session, "healing", labels={"pod-security.kubernetes.io/enforce": "privileged"})
    yield workspace
    removal.remove(workspace.ref)


def test_a_disk_that_turns_read_only_is_a_condition_until_it_takes_writes_again(privileged: Workspace) -> None:
    """A real mount on the real node, where the check writes.

    Seen to fail with `exit 0` for `exit 1` in writable.sh (the condition never becomes true).
    """
    node = real_node(privileged.session)
    wait_for_condition(privileged.session, node, CONDITION, "False")
    _create(privileged, "read-only", node, _harmful(READ_ONLY))
    found = wait_for_condition(privileged.session, node, CONDITION, "True")
    assert text(found, "reason") == "FilesystemIsReadOnly", found
    assert "Read-only file system" in text(found, "message"), found
    privileged.delete(POD, "read-only")
    healed = wait_for_condition(privileged.session, node, CONDITION, "False")
    assert text(healed, "reason") == "FilesystemIsNotReadOnly", healed


def test_a_process_that_the_kernel_kills_is_an_event_of_its_node(workspace: Workspace) -> None:
    """A container that takes more memory than it may, and the kernel's own line about it.

    Seen to fail with the rule OOMKilling taken out of kernel-monitor.json.
    """
    node = real_node(workspace.session)
    greedy = container(["python3", "-c", "print(len(bytearray(b'x') * 2**28))"])
    greedy["resources"] = {"requests": {"cpu": "50m", "memory": "48Mi"}, "limits": {"memory": "48Mi"}}
    _create(workspace, "greedy", node, pod_spec(greedy))
    wait_for(
        "the kernel kills the container",
        lambda: [workspace.get(POD, "greedy")],
        lambda pods: text(pods[0], "status", "phase") == "Failed",
        show=states,
    )
    began = text(workspace.get(POD, "greedy"), "metadata", "creationTimestamp")
    found = wait_for(
        "an event OOMKilling of the node",
        lambda: [each for each in _kills(workspace.session, node) if text(each, "lastTimestamp") >= began],
        show=len,
    )
    assert any("python3" in text(each, "message") for each in found), [text(each, "message") for each in found]


def _kills(session: Session, node: str) -> Sequence[Object]:
    listing = session.list(EVENT, field_selector=f"involvedObject.name={node},reason=OOMKilling")
    return listing.items if listing else ()


def _harmful(script: str) -> dict[str, object]:
    """Return the spec of a pod that runs a Python script as the node's root."""
    mount = {"name": "disk", "mountPath": FOLDER, "mountPropagation": "Bidirectional"}
    runs = container(
        ["python3", "-c", script], securityContext={"privileged": True, "runAsUser": 0}, volumeMounts=[mount]
    )
    disk = {"name": "disk", "hostPath": {"path": FOLDER, "type": "DirectoryOrCreate"}}
    return pod_spec(runs) | {"volumes": [disk], "terminationGracePeriodSeconds": 30}


def _create(workspace: Workspace, name: str, node: str, spec: Mapping[str, object]) -> None:
    placed = {**spec, "nodeName": node}
    workspace.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": placed})
