"""The first team's quota: never more than the nodes have left."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.errors import HostError
from modelyard.plan.quota_left import ANY_CPU, pod_request, quota_left
from modelyard.quantity import parse


def quota(
    nodes: list[dict[str, object]], platform: list[dict[str, object]], pods: list[dict[str, object]], counted: list[str]
) -> dict[str, str]:
    cpu, memory = quota_left(nodes, platform, pods, counted=counted, subject="team")
    return {"cpu": cpu, "memory": memory}


def node(cpu: str = "1800m", memory: str = "20Gi", **spec: object) -> dict[str, object]:
    return {"metadata": {"name": "n"}, "spec": spec, "status": {"allocatable": {"cpu": cpu, "memory": memory}}}


def containers(*cpus: str) -> dict[str, object]:
    return {"containers": [{"resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}} for cpu in cpus]}


def workload(kind: str, cpu: str, replicas: int | None = None) -> dict[str, object]:
    spec: dict[str, object] = {"template": {"spec": containers(cpu)}}
    if replicas is not None:
        spec["replicas"] = replicas
    return {"kind": kind, "spec": spec}


def pod(namespace: str, cpu: str, phase: str = "Running", bound: bool = True) -> dict[str, object]:
    spec = containers(cpu) | ({"nodeName": "n"} if bound else {})
    return {"metadata": {"namespace": namespace}, "spec": spec, "status": {"phase": phase}}


def test_the_platforms_requests_are_taken_off() -> None:
    objects = [workload("Deployment", "100m"), workload("StatefulSet", "10m", 3), workload("Job", "500m")]
    assert quota([node()], objects, [], counted=[]) == {"cpu": "1650m", "memory": "20224Mi"}


def test_a_daemonset_is_taken_off_once_a_usable_node() -> None:
    tainted = node(taints=[{"key": "x", "effect": "NoSchedule"}])
    assert quota([node(), node(), tainted], [workload("DaemonSet", "100m")], [], counted=[])["cpu"] == "3400m"


@pytest.mark.parametrize("unusable", [{"unschedulable": True}, {"taints": [{"effect": "NoExecute"}]}])
def test_nodes_that_take_no_work_do_not_count(unusable: dict[str, object]) -> None:
    assert quota([node(), node(**unusable)], [], [], counted=[])["cpu"] == "1800m"


@pytest.mark.parametrize(("ready", "cpu"), [("True", "3600m"), ("False", "1800m")])
def test_a_node_that_has_just_become_ready_counts_and_one_that_is_lost_does_not(ready: str, cpu: str) -> None:
    """The taint of a node that is not ready goes a moment after the node has become ready."""
    found = node(taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])
    found["status"] = {**dict(found["status"]), "conditions": [{"type": "Ready", "status": ready}]}  # type: ignore[call-overload]
    assert quota([node(), found], [], [], counted=[])["cpu"] == cpu


def test_simulated_nodes_do_not_count() -> None:
    fake = node("32") | {"metadata": {"name": "fake", "labels": {"type": "kwok"}}}
    assert quota([node(), fake], [], [], counted=[])["cpu"] == "1800m"


def test_only_live_pods_of_uncounted_namespaces_are_taken_off() -> None:
    pods = [
        pod("default", "200m"),
        pod("team-a", "400m"),
        pod("default", "400m", phase="Succeeded"),
        pod("default", "400m", phase="Pending", bound=False),
    ]
    assert quota([node()], [], pods, counted=["team-a"])["cpu"] == "1600m"


def test_a_platform_pod_is_not_taken_off_again_and_a_neighbour_in_its_namespace_is() -> None:
    server = workload("Deployment", "100m") | {"metadata": {"namespace": "kube-system", "name": "metrics-server"}}
    running = pod("kube-system", "100m")
    named = [running | {"metadata": {"namespace": "kube-system", "name": name}} for name in ("metrics-server-x", "dns")]
    elsewhere = running | {"metadata": {"namespace": "default", "name": "metrics-server-x"}}
    assert quota([node()], [server], named, counted=[])["cpu"] == "1600m"
    assert quota([node()], [server], [*named, elsewhere], counted=[])["cpu"] == "1500m"


def test_a_machine_that_is_too_small_is_told_so() -> None:
    with pytest.raises(HostError, match=r"less than 0\.5 is left"):
        quota([node("600m")], [workload("Deployment", "200m")], [], counted=[])


def test_a_pods_request_is_the_larger_of_init_and_main_with_sidecars() -> None:
    spec = containers("100m", "200m") | {
        "initContainers": [
            {"resources": {"requests": {"cpu": "350m"}}},
            {"restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}},
        ],
        "overhead": {"cpu": "10m"},
    }
    assert pod_request(spec).cpu == Decimal("0.41")


def test_a_limit_counts_where_no_request_is_given() -> None:
    assert pod_request({"containers": [{"resources": {"limits": {"cpu": "300m"}}}]}).cpu == Decimal("0.3")


@given(st.integers(500, 64000), st.lists(st.integers(0, 2000), max_size=5))
def test_quota_and_platform_together_never_exceed_what_can_be_allocated(total: int, requests: list[int]) -> None:
    objects = [workload("Deployment", f"{cpu}m") for cpu in requests]
    try:
        left = quota([node(f"{total}m")], objects, [], counted=[])
    except HostError:
        assert total - sum(requests) < 500
    else:
        cpu = parse(left["cpu"])
        assert cpu is not None
        assert total - 50 < cpu * 1000 + sum(requests) <= total


def test_site_that_sets_the_cpus_is_not_held_to_the_least() -> None:
    cpu, memory = quota_left(
        [node("600m")], [workload("Deployment", "700m")], [], counted=[], subject="team", least_cpu=ANY_CPU
    )
    assert (cpu, memory) == ("0m", "20416Mi")
