"""Nodes with more than one NIC, and the example's job on them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from conformance.support.examples import example, merged
from conformance.support.kinds import JOB
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, annotations_of, labels_of, mapping, mappings, text

NETWORKS = "k8s.v1.cni.cncf.io/networks"
NETWORK_STATUS = "k8s.v1.cni.cncf.io/network-status"
ATTACHMENT = GroupKind("k8s.cni.cncf.io", "NetworkAttachmentDefinition")
POOL = GroupKind("whereabouts.cni.cncf.io", "IPPool")
NODE = GroupKind("", "Node")
# `modelyard local up --nics` sets them; on other clusters whoever knows the NICs does.
COUNT, MBIT = "modelyard.dev/nics", "modelyard.dev/nic-mbit"
NAME = "nics"  # of the example's Job
SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Nics:
    """What each node has: `count` NICs beside the pod network's, called net1, net2 ..., of `mbit` Mbit/s each."""

    count: int
    mbit: int


def nics_of(session: Session) -> Nics:
    """Return which NICs the nodes have; skip where the cluster cannot have pods on several of them.

    A skipped test is listed as not run, with the reason.
    """
    for kind, component in ((ATTACHMENT, "multus"), (POOL, "whereabouts")):
        if session.list(kind) is None:
            pytest.skip(f"not run: component {component} is not installed")
    listing = session.list(NODE)
    assert listing is not None
    labels = [labels_of(node) for node in listing.items if labels_of(node).get(COUNT, "0") not in ("0", "1")]
    if len(labels) < 2:
        pytest.skip(f"not run: two nodes with labels {COUNT} (at least 2) and {MBIT} are needed")
    return Nics(min(int(each[COUNT]) for each in labels), min(int(each[MBIT]) for each in labels))


def start(
    workspace: Workspace,
    *,
    attached: bool = True,
    networks: str = "",
    program: Mapping[str, str] | None = None,
    mtu: int = 0,
    **settings: str,
) -> Object:
    """Create the example's Job on two nodes, and return it.

    Args:
        workspace: where.
        attached: with the annotation that attaches its pods to the NICs; all else is the same without.
        networks: what the annotation says instead of what the example's does.
        program: file name and text of another program than the example's.
        mtu: of the pods' interfaces on the NICs, in bytes; 0: that of the NICs.
        settings: environment variables of the program.
    """
    made: Object = {}
    for obj in example("nics"):
        changed: Object = obj
        if text(obj, "kind") == "ConfigMap" and program is not None:
            changed = {**obj, "data": dict(program)}
        if text(obj, "kind") == "Job":
            changed = made = _annotated(_job(obj, program, settings), attached, networks)
        if text(obj, "kind") == ATTACHMENT.kind and mtu:
            config = json.loads(text(obj, "spec", "config")) | {"mtu": mtu}
            changed = merged(obj, {"spec": {"config": json.dumps(config)}})
        workspace.apply(changed)
    return made


def _job(obj: Object, program: Mapping[str, str] | None, settings: Mapping[str, str]) -> Object:
    [container] = mappings(obj, "spec", "template", "spec", "containers")
    env = [*mappings(container, "env"), *({"name": name, "value": value} for name, value in settings.items())]
    command = ["python3", *(f"/job/{name}" for name in program)] if program else container["command"]
    pod = {"containers": [{**container, "env": env, "command": command}]}
    return merged(obj, {"spec": {"template": {"spec": pod}}})


def _annotated(job: Object, attached: bool, networks: str) -> Object:
    if attached and not networks:
        return job
    template = mapping(job, "spec", "template")
    metadata = {key: value for key, value in mapping(template, "metadata").items() if key != "annotations"}
    metadata |= {"annotations": {NETWORKS: networks}} if attached else {}
    return {**job, "spec": {**mapping(job, "spec"), "template": {**template, "metadata": metadata}}}


def ended(workspace: Workspace) -> Sequence[Object]:
    """Wait until both pods have ended, and return them by their rank."""
    return wait_for(
        "the pods end",
        lambda: pods(workspace),
        lambda found: len(found) == 2 and all(text(pod, "status", "phase") in ("Succeeded", "Failed") for pod in found),
        seconds=SECONDS,
        show=lambda found: [text(pod, "status", "phase") for pod in found],
    )


def pods(workspace: Workspace) -> Sequence[Object]:
    """Return the job's pods by their rank."""
    return sorted(workspace.pods(f"job-name={NAME}"), key=lambda pod: text(pod, "metadata", "name"))


def remove(workspace: Workspace) -> None:
    """Delete the job, and wait until its pods are gone."""
    workspace.delete(JOB, NAME)
    wait_for("the job's pods are gone", lambda: pods(workspace), lambda found: not found)


def attachments(pod: Object) -> dict[str, list[str]]:
    """Return a pod's interfaces with their addresses, as Multus has written them down."""
    listed = json.loads(annotations_of(pod).get(NETWORK_STATUS, "[]"))
    return {str(each.get("interface", "")): list(each.get("ips", [])) for each in listed}


def lines(workspace: Workspace, pod: Object, mark: str) -> list[Mapping[str, object]]:
    """Return what a program has said in lines that begin with `mark`."""
    log = workspace.logs(text(pod, "metadata", "name"))
    return [json.loads(line.removeprefix(mark)) for line in log.splitlines() if line.startswith(f"{mark} {{")]
