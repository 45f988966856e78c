"""What the nodes have left for jobs when the platform itself runs. Pure.

Kueue admits by quota and knows nothing of what else takes a node's CPU. A quota that leaves the platform's own
requests out lets it admit pods that then stay Pending.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from modelyard.errors import HostError
from modelyard.objects import Object, labels_of, mapping, mappings, number, text
from modelyard.quantity import parse

CPU_STEP = Decimal("0.05")
MEMORY_STEP = Decimal(64 * 1024**2)
LEAST_CPU = Decimal("0.5")  # what the smoke job asks for
ANY_CPU = Decimal("-Infinity")

_NOT_READY = "node.kubernetes.io/not-ready"
_WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")


@dataclass(frozen=True, slots=True)
class Resources:
    """An amount of CPU (cores) and memory (bytes)."""

    cpu: Decimal = Decimal(0)
    memory: Decimal = Decimal(0)

    def __add__(self, other: Resources) -> Resources:
        return Resources(self.cpu + other.cpu, self.memory + other.memory)

    def __sub__(self, other: Resources) -> Resources:
        return Resources(self.cpu - other.cpu, self.memory - other.memory)

    def __mul__(self, times: int) -> Resources:
        return Resources(self.cpu * times, self.memory * times)


def quota_left(
    nodes: Iterable[Object],
    platform: Iterable[Object],
    pods: Iterable[Object],
    *,
    counted: Collection[str],
    subject: str,
    least_cpu: Decimal = LEAST_CPU,
) -> tuple[str, str]:
    """Return CPU and memory, as quantities: ("1250m", "6144Mi").

    Args:
        nodes: the cluster's Nodes.
        platform: rendered objects of the components that are, or will be, installed; their pods count once.
        pods: the cluster's Pods.
        counted: namespaces whose pods are counted otherwise: teams' (by quota).
        subject: the component whose quota it is.
        least_cpu: with less than that left there is no quota.

    Raises:
        HostError: less is left than the smallest job needs.
    """
    objects = list(platform)
    prefixes = {_prefix(obj) for obj in objects if text(obj, "kind") in _WORKLOADS}
    usable = [node for node in nodes if _takes_work(node)]
    total = sum((_amount(mapping(node, "status", "allocatable")) for node in usable), Resources())
    taken = sum((_workload(obj, len(usable)) for obj in objects), Resources())
    others = sum((pod_request(mapping(pod, "spec")) for pod in pods if _is_other(pod, counted, prefixes)), Resources())
    left = total - taken - others
    if left.cpu < least_cpu:
        raise HostError(
            f"quota of component {subject}",
            f"of {total.cpu:.2f} CPUs the platform takes {taken.cpu:.2f} and other pods {others.cpu:.2f}: "
            f"less than {least_cpu} is left for jobs",
            "install fewer components (modelyard install --component ...), or use a machine with more cores",
        )
    cpu = max(left.cpu, Decimal(0)) // CPU_STEP * CPU_STEP
    memory = max(left.memory, Decimal(0)) // MEMORY_STEP * MEMORY_STEP
    return f"{int(cpu * 1000)}m", f"{int(memory / 1024**2)}Mi"


def pod_request(spec: Object) -> Resources:
    """Return what a pod of `spec` asks of its node.

    Source: the scheduler's rule; the larger of what all containers that run side by side ask for and what one
    init container does, and the pod's overhead.
    """
    side_by_side = [*mappings(spec, "containers"), *(init for init in mappings(spec, "initContainers") if _stays(init))]
    running = sum((_requests(container) for container in side_by_side), Resources())
    first = [_requests(init) for init in mappings(spec, "initContainers") if not _stays(init)]
    largest = Resources(
        max([running.cpu, *(init.cpu for init in first)]), max([running.memory, *(init.memory for init in first)])
    )
    return largest + _amount(mapping(spec, "overhead"))


def _workload(obj: Object, nodes: int) -> Resources:
    one = pod_request(mapping(obj, "spec", "template", "spec"))
    match text(obj, "kind"):
        case "Deployment" | "StatefulSet":
            return one * number(obj, "spec", "replicas", default=1)
        case "DaemonSet":
            return one * nodes
        case _:
            return Resources()


def _takes_work(node: Object) -> bool:
    """Tell whether ordinary pods can really run there: not a simulated, tainted or cordoned node."""
    # A node is Ready a moment before the controller takes this taint away.
    passing = {_NOT_READY} if _is_ready(node) else set()
    tainted = any(
        text(taint, "effect") in ("NoSchedule", "NoExecute") and text(taint, "key") not in passing
        for taint in mappings(node, "spec", "taints")
    )
    cordoned = mapping(node, "spec").get("unschedulable") is True
    return not tainted and not cordoned and labels_of(node).get("type") != "kwok"


def _is_ready(node: Object) -> bool:
    conditions = mappings(node, "status", "conditions")
    return any(text(each, "type") == "Ready" and text(each, "status") == "True" for each in conditions)


def _prefix(workload: Object) -> tuple[str, str]:
    """Return namespace and beginning of the names of a workload's pods."""
    return text(workload, "metadata", "namespace"), f"{text(workload, 'metadata', 'name')}-"


def _is_other(pod: Object, counted: Collection[str], prefixes: Collection[tuple[str, str]]) -> bool:
    bound = bool(text(pod, "spec", "nodeName"))
    ended = text(pod, "status", "phase") in ("Succeeded", "Failed")
    namespace, name = text(pod, "metadata", "namespace"), text(pod, "metadata", "name")
    ours = any(namespace == where and name.startswith(prefix) for where, prefix in prefixes)
    return bound and not ended and not ours and namespace not in counted


def _stays(init: Object) -> bool:
    return text(init, "restartPolicy") == "Always"


def _requests(container: Object) -> Resources:
    # A container without a request asks for its limit.
    return _amount({**mapping(container, "resources", "limits"), **mapping(container, "resources", "requests")})


def _amount(resources: Mapping[str, object]) -> Resources:
    return Resources(parse(resources.get("cpu")) or Decimal(0), parse(resources.get("memory")) or Decimal(0))
