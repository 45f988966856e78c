"""Devices that pods claim: each to one pod, and to the next when it is given back.

Simulated: the devices are the example driver's, which are GPUs by name only. Claims, the scheduler's allocation and the
kubelet's call of the driver are real.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from conformance.support.conditions import condition, summary
from conformance.support.kinds import POD
from conformance.support.pods import pod_spec, running, sleeper, states
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, mapping, mappings, text

pytestmark = [pytest.mark.needs("dra-example-driver"), pytest.mark.proves("dra-example-driver", simulated=True)]

API = "resource.k8s.io"
CLAIM, SLICE = GroupKind(API, "ResourceClaim"), GroupKind(API, "ResourceSlice")
DRIVER = CLASS = "gpu.example.com"  # the driver's and its DeviceClass' name are the same
TEMPLATE = "one"

Device = tuple[str, str]  # pool and name


def test_each_claim_gets_a_device_of_its_own_and_one_too_many_waits(workspace: Workspace) -> None:
    """As many pods as there are devices run; one more waits until a device is given back, and gets that one.

    Seen to fail without the driver's DaemonSet (no device is published), and with a DeviceClass that selects none.
    """
    free = wait_for("a device is published", lambda: _free(workspace.session))
    workspace.create(_template())
    names = [f"pod-{number}" for number in range(len(free) + 1)]
    for name in names:
        workspace.create(_pod(name))
    first = wait_for(
        "there is a pod for each device",
        lambda: running(workspace.pods()),
        lambda pods: len(pods) == len(free),
        show=states,
    )
    [late] = set(names) - set(map(_name, first))
    wait_for("one pod waits", lambda: workspace.get(POD, late), _waits, show=summary)
    held = _held(workspace)
    assert set(held) == set(map(_name, first))
    assert sorted(held.values()) == sorted(free), "two pods share a device, or one got none"

    given_back = _name(first[0])
    workspace.delete(POD, given_back)
    wait_for(
        "the waiting pod runs", lambda: running([workspace.get(POD, late)]), show=lambda _: states(workspace.pods())
    )
    assert _held(workspace)[late] == held[given_back]


def _waits(pod: Object) -> bool:
    scheduled = condition(pod, "PodScheduled")
    return text(scheduled, "reason") == "Unschedulable" and "cannot allocate all claims" in text(scheduled, "message")


def _free(session: Session) -> set[Device]:
    """Return the driver's devices that no claim of the cluster has."""
    slices = session.list(SLICE)
    assert slices is not None, "the cluster has no dynamic resource allocation"
    published = {
        (text(each, "spec", "pool", "name"), text(device, "name"))
        for each in slices.items
        if text(each, "spec", "driver") == DRIVER
        for device in mappings(each, "spec", "devices")
    }
    claims = session.list(CLAIM)
    return published - set(_allocated(claims.items if claims else ()))


def _allocated(claims: Iterable[Object]) -> list[Device]:
    results = [each for claim in claims for each in mappings(claim, "status", "allocation", "devices", "results")]
    return [(text(each, "pool"), text(each, "device")) for each in results if text(each, "driver") == DRIVER]


def _held(workspace: Workspace) -> dict[str, Device]:
    """Return the device of each pod, by the claims that are reserved for them."""
    return {
        text(user, "name"): _allocated([claim])[0]
        for claim in workspace.list(CLAIM)
        for user in mappings(claim, "status", "reservedFor")
    }


def _name(pod: Object) -> str:
    return text(pod, "metadata", "name")


def _template() -> Object:
    request = {"name": "gpu", "exactly": {"deviceClassName": CLASS}}
    spec = {"spec": {"devices": {"requests": [request]}}}
    return {
        "apiVersion": f"{API}/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": TEMPLATE},
        "spec": spec,
    }


def _pod(name: str) -> Object:
    runs = sleeper(cpu="10m")
    claimed = {**mapping(runs, "resources"), "claims": [{"name": "gpu"}]}
    spec = pod_spec({**runs, "resources": claimed}) | {
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": TEMPLATE}]
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
