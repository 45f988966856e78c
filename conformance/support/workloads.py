"""Kueue's Workloads: what it admitted, evicted, or keeps waiting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from conformance.support.conditions import condition, is_true, summary
from conformance.support.kinds import WORKLOAD
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.objects import Object, dig, mappings, number, text
from modelyard.quantity import parse


@dataclass(frozen=True, slots=True)
class Share:
    """So many pods, and the CPUs that they request together."""

    pods: int
    cpu: Decimal


def admitted(workloads: Iterable[Object]) -> Share:
    """Return what Kueue admitted, by the Workloads' own `status.admission`."""
    sets = [
        each
        for workload in workloads
        if is_true(workload, "Admitted")
        for each in mappings(workload, "status", "admission", "podSetAssignments")
    ]
    return Share(
        pods=sum(number(each, "count") for each in sets),
        cpu=sum((parse(dig(each, "resourceUsage", "cpu")) or Decimal(0) for each in sets), Decimal(0)),
    )


def workload_of(workspace: Workspace, owner: str) -> Object:
    """Wait for the Workload of the job `owner`, and return it."""
    return wait_for(f"a Workload of {owner}", lambda: _owned(workspace, owner))


def wait_until_held(workspace: Workspace, owner: str) -> Object:
    """Wait until Kueue has considered a job and found no room for it; return its Workload."""
    return wait_for(
        f"Kueue holds {owner} back",
        lambda: _owned(workspace, owner),
        lambda found: text(condition(found, "QuotaReserved"), "status") == "False",
        show=summary,
    )


def wait_until(workspace: Workspace, owner: str, kind: str) -> Object:
    """Wait until a condition of a job's Workload holds; return the Workload."""
    return wait_for(
        f"the Workload of {owner} is {kind}",
        lambda: _owned(workspace, owner),
        lambda found: is_true(found, kind),
        show=summary,
    )


def table(workloads: Iterable[Object]) -> str:
    """Return each Workload with its conditions."""
    return "\n".join(f"{text(each, 'metadata', 'name')}: {summary(each)}" for each in workloads) or "none"


def _owned(workspace: Workspace, owner: str) -> Object:
    for workload in workspace.list(WORKLOAD):
        if any(text(each, "name") == owner for each in mappings(workload, "metadata", "ownerReferences")):
            return workload
    return {}
