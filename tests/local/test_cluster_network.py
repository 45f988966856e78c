"""Pods, Services and names, on one node and across two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_helpers import Kubectl, eventually, pod

from modelyard.local import ClusterInfo, ClusterSpec, exec_in, load_image
from modelyard.local.host.facts import gather
from modelyard.local.state.remembered import Shape, spec_like_before


def server(name: str, **spec: Any) -> dict[str, Any]:
    """Return a pod that answers its name on TCP port 8080."""
    made = pod(name, **spec)
    made["spec"]["containers"][0]["command"] = [
        "/usr/bin/socat",
        "TCP-LISTEN:8080,fork,reuseaddr",
        "EXEC:/usr/bin/hostname",
    ]
    return made


def ask(kubectl: Kubectl, source: str, target: str) -> str:
    return kubectl("exec", source, "--", "socat", "-u", f"TCP:{target},connect-timeout=5", "-").strip()


# A node is Ready before its kube-proxy knows the endpoints of all Services, the cluster's DNS among them; and that DNS
# hears of a new Service a moment after the apiserver has it.
_NOT_YET = (
    "Connection refused",
    "timed out",
    "Temporary failure in name resolution",
    "Name or service not known",
    "exit code 2",
)


def when_services_answer(ask_one: Callable[[], str]) -> str:
    """Return the first answer of `ask_one`, which asks through a Service."""
    answers: list[str] = []
    last: list[str] = []

    def answered() -> bool:
        try:
            answers.append(ask_one())
        except AssertionError as error:
            if not any(reason in str(error) for reason in _NOT_YET):
                raise
            last[:] = [str(error)]
        return bool(answers)

    eventually(answered, "an answer through a Service", seen=lambda: last)
    return answers[0]


def test_pod_runs_and_can_be_looked_into(kubectl: Kubectl) -> None:
    talker = pod("talker")
    talker["spec"]["containers"][0]["command"] = ["/usr/bin/bash", "-c", "echo spoken; sleep 3600"]
    kubectl.apply(talker)
    kubectl.wait_ready("talker")
    assert kubectl("logs", "talker") == "spoken\n"
    assert kubectl("exec", "talker", "--", "hostname") == "talker\n"
    kubectl("delete", "pod", "talker")


def test_names_resolve_inside_and_fail_at_once_outside(kubectl: Kubectl) -> None:
    kubectl.apply(pod("asker"))
    kubectl.wait_ready("asker")
    answer = when_services_answer(lambda: kubectl("exec", "asker", "--", "getent", "hosts", "kubernetes.default"))
    assert answer.split() == ["10.96.0.1", "kubernetes.default.svc.cluster.local"]
    with pytest.raises(AssertionError, match="exit code 2"):  # getent: not found
        kubectl("exec", "asker", "--", "getent", "hosts", "example.com")
    kubectl("delete", "pod", "asker")


def test_pods_on_two_nodes_reach_each_other_and_services(
    own: Any, kubectl_for: Callable[[ClusterInfo], Kubectl], tools: Path
) -> None:
    info = own(nodes=2)
    assert load_image(info.name, tools) == ["node-1", "node-2"]
    kubectl = kubectl_for(info)
    kubectl.apply(server("one", nodeName="node-1"), server("two", nodeName="node-2"))
    service = {"selector": {"app": "two"}, "ports": [{"port": 80, "targetPort": 8080}]}
    kubectl.apply({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "front"}, "spec": service})
    kubectl.wait_ready("one")
    kubectl.wait_ready("two")
    ips = {each["metadata"]["name"]: each["status"]["podIP"] for each in kubectl.json("get", "pods")["items"]}
    assert ips["one"].startswith("10.244.1.")
    assert ips["two"].startswith("10.244.2.")
    assert ask(kubectl, "one", f"{ips['two']}:8080") == "two"
    assert ask(kubectl, "two", f"{ips['one']}:8080") == "one"
    from_the_other_node = when_services_answer(lambda: ask(kubectl, "one", "front:80"))
    from_the_pod_itself = when_services_answer(lambda: ask(kubectl, "two", "front:80"))
    assert (from_the_other_node, from_the_pod_itself) == ("two", "two")

    host = gather(Path("/"))
    nodes = kubectl.json("get", "nodes")["items"]
    cpus = sum(int(node["status"]["allocatable"]["cpu"].removesuffix("m")) for node in nodes)
    memory = sum(int(node["status"]["allocatable"]["memory"].removesuffix("Ki")) for node in nodes)
    assert 0.8 * 1000 * host.cpus <= cpus < 1000 * host.cpus
    assert 0.5 * 1024 * host.memory_mib <= memory < 1024 * host.memory_mib


def test_fake_nodes_cannot_be_mistaken_for_real_ones(
    own: Any, kubectl_for: Callable[[ClusterInfo], Kubectl], tools: Path
) -> None:
    info = own(fake_nodes=2, fake_gpus=8)
    remembered = spec_like_before(info.name, Shape(), port=None)
    assert remembered == ClusterSpec(name=info.name, fake_nodes=2, fake_gpus=8)
    load_image(info.name, tools)
    kubectl = kubectl_for(info)
    fakes = kubectl.json("get", "nodes", "-l", "modelyard.dev/simulated=true")["items"]
    assert [node["metadata"]["name"] for node in fakes] == ["fake-1", "fake-2"]
    for node in fakes:
        assert node["status"]["allocatable"]["nvidia.com/gpu"] == "8"
        assert node["metadata"]["labels"]["type"] == "kwok"
        assert {"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"} in node["spec"]["taints"]
    kubectl.apply(pod("ordinary"))
    kubectl.wait_ready("ordinary")
    assert kubectl.json("get", "pod", "ordinary")["spec"]["nodeName"] == "node-1"
    wanting = pod("wanting", tolerations=[{"key": "kwok.x-k8s.io/node", "operator": "Exists"}])
    wanting["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": 8}}
    kubectl.apply(wanting)
    kubectl.wait_ready("wanting")
    assert kubectl.json("get", "pod", "wanting")["spec"]["nodeName"].startswith("fake-")


def test_exec_reaches_a_node_and_the_control_plane(cluster: ClusterInfo) -> None:
    on_node = exec_in(cluster.name, "node-1", ["hostname"], capture=True)
    assert on_node.stdout == b"node-1\n"
    inside = exec_in(cluster.name, None, ["ip", "-o", "link", "show", "br0"], capture=True)
    assert b"br0" in inside.stdout
    assert exec_in(cluster.name, "node-1", ["bash", "-c", "exit 7"], capture=True).returncode == 7
