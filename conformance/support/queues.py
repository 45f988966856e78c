"""Queues of one test's own: nothing that others run counts in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.support import simulated
from conformance.support.conditions import condition
from conformance.support.kinds import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE, PRIORITY_CLASS, RESOURCE_FLAVOR
from conformance.support.removal import Removal
from conformance.support.waiting import wait_for
from conformance.support.workspace import LABEL, Workspace
from modelyard.objects import GroupKind, Object, ObjectRef, dig, mappings, text

API = "kueue.x-k8s.io/v1beta2"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
PREEMPTION = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
# Memory is no test's subject, but a job whose resource the queue does not cover is never admitted.
MEMORY = "512Gi"


@dataclass(frozen=True, slots=True)
class Queue:
    """A LocalQueue and the ClusterQueue behind it, both of this name."""

    name: str

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels that put a job into it."""
        return {QUEUE_LABEL: self.name}


class Queues:
    """Makes queues with names of their own, and removes them.

    Args:
        workspace: where the LocalQueues are; jobs of other namespaces cannot use the ClusterQueues.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._made: list[ObjectRef] = []

    def queue(
        self,
        *,
        cpu: str,
        cohort: str = "",
        preemption: Mapping[str, str] = PREEMPTION,
        flavor: str = "",
        gpus: str = "",
        weight: int = 1,
    ) -> Queue:
        """Make a queue and wait until it is active.

        Args:
            cpu: its own quota.
            cohort: which one it belongs to; empty: none.
            preemption: a ClusterQueue's `preemption`.
            flavor: a ResourceFlavor of the platform; empty: one of the test's own, of any node.
            gpus: its own quota of nvidia.com/gpu; empty: it knows no GPUs.
            weight: its share of what the cohort lends, beside the others'.
        """
        queue = Queue(self._name("q"))
        spec: dict[str, object] = {
            "namespaceSelector": {"matchLabels": {LABEL: self._workspace.name}},
            "queueingStrategy": "BestEffortFIFO",
            "preemption": dict(preemption),
            "fairSharing": {"weight": str(weight)},
            "resourceGroups": [_quota(flavor or self._flavor(), cpu, gpus)],
        }
        if cohort:
            spec["cohortName"] = cohort
        self._make(CLUSTER_QUEUE, queue.name, {"spec": spec})
        self._workspace.create(
            {"apiVersion": API, "kind": LOCAL_QUEUE.kind, "metadata": {"name": queue.name}}
            | {"spec": {"clusterQueue": queue.name}}
        )
        wait_for(
            f"LocalQueue {queue.name} is active",
            lambda: condition(self._workspace.get(LOCAL_QUEUE, queue.name), "Active"),
            lambda active: text(active, "status") == "True",
        )
        return queue

    def cohort(self, *, cpu: str = "") -> str:
        """Make a cohort and return its name.

        Args:
            cpu: a quota of the cohort's own, which its queues may borrow; empty: none.
        """
        groups = {"spec": {"resourceGroups": [_quota(self._flavor(), cpu, "")]}} if cpu else {}
        return self._make(COHORT, self._name("cohort"), groups)

    def simulated_flavor(self, *, topology: str) -> str:
        """Make a flavor of the workspace's own simulated nodes and return its name.

        Args:
            topology: the Topology that says how the nodes lie to each other.
        """
        spec = {
            "nodeLabels": {LABEL: self._workspace.name},
            "tolerations": [simulated.TOLERATION],
            "topologyName": topology,
        }
        return self._make(RESOURCE_FLAVOR, self._name("flavor"), {"spec": spec})

    def priority(self, value: int) -> dict[str, str]:
        """Make a priority class and return the labels that give it to a job."""
        return {PRIORITY_LABEL: self._make(PRIORITY_CLASS, self._name(f"p{value}"), {"value": value})}

    def reserved_cpu(self, queue: Queue) -> str:
        """Return the CPU that a queue's ClusterQueue says it has given away, as it writes it."""
        found = self._workspace.session.get(_ref(CLUSTER_QUEUE, queue.name)) or {}
        flavors = mappings(found, "status", "flavorsReservation")
        resources = [resource for flavor in flavors for resource in mappings(flavor, "resources")]
        return str(next((dig(each, "total") for each in resources if text(each, "name") == "cpu"), "0"))

    def remove(self, removal: Removal) -> None:
        """Remove all of it; a ClusterQueue stays until the last Workload in it has gone."""
        for ref in reversed(self._made):
            removal.remove(ref)

    def _flavor(self) -> str:
        """Return the one flavor of this test: without node labels, any node."""
        name = f"{self._workspace.name}-flavor"
        if _ref(RESOURCE_FLAVOR, name) in self._made:
            return name
        return self._make(RESOURCE_FLAVOR, name, {})

    def _make(self, kind: GroupKind, name: str, body: Object) -> str:
        # Remembered first: what an interrupted request has made is removed too.
        self._made.append(_ref(kind, name))
        self._workspace.session.create({"apiVersion": API, "kind": kind.kind, "metadata": {"name": name}, **body})
        return name

    def _name(self, suffix: str) -> str:
        return f"{self._workspace.name}-{suffix}-{len(self._made)}"


def _quota(flavor: str, cpu: str, gpus: str) -> Object:
    quota = {"cpu": cpu, "memory": MEMORY} | ({simulated.GPU: gpus} if gpus else {})
    resources = [{"name": name, "nominalQuota": amount} for name, amount in quota.items()]
    return {"coveredResources": list(quota), "flavors": [{"name": flavor, "resources": resources}]}


def _ref(kind: GroupKind, name: str) -> ObjectRef:
    return ObjectRef(kind.group, kind.kind, "", name)
