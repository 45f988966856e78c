"""Kueue's queues that would go while jobs run through them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from modelyard.objects import GroupKind, Object, ObjectRef, mappings, ref_of, text

CLUSTER_QUEUE = GroupKind("kueue.x-k8s.io", "ClusterQueue")
WORKLOAD = GroupKind("kueue.x-k8s.io", "Workload")


def running(queues: Iterable[ObjectRef], workloads: Iterable[Object]) -> dict[ObjectRef, Sequence[ObjectRef]]:
    """Return which Workloads hold quota of which queue, for the queues of which any is held.

    Kueue keeps a ClusterQueue until none is (its finalizer kueue.x-k8s.io/resource-in-use).

    Args:
        queues: ClusterQueues.
        workloads: all Workloads, with their status.
    """
    held: dict[ObjectRef, list[ObjectRef]] = {}
    by_name = {ref.name: ref for ref in queues}
    for workload in workloads:
        queue = by_name.get(text(workload, "status", "admission", "clusterQueue"))
        if queue is not None and not _finished(workload):
            held.setdefault(queue, []).append(ref_of(workload))
    return {ref: sorted(found) for ref, found in sorted(held.items())}


def _finished(workload: Object) -> bool:
    conditions = mappings(workload, "status", "conditions")
    return any(text(each, "type") == "Finished" and text(each, "status") == "True" for each in conditions)
