"""What each component's pods use at rest, for `cost` in component.yaml: `python -m benchmarks.costs --name NAME`.

It asks the kubelets of an embedded cluster on which the platform has been installed and is not used, twice.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from modelyard.catalog import Component, Cost, load
from modelyard.cluster import Session, connect
from modelyard.local.state.layout import layout
from modelyard.objects import GroupKind, Object, dig, labels_of, mappings, text
from modelyard.paths import data_root
from modelyard.plan.inventory import PART_OF_LABEL, applyset_id

# Controllers that have just started still list and watch.
SETTLING_SECONDS = 120.0
SECONDS = 120.0
_WORKLOADS = tuple(GroupKind("apps", kind) for kind in ("Deployment", "DaemonSet", "StatefulSet"))
_MIB = 1 << 20
_COST = re.compile(r"^cost:.*\n", re.M)


@dataclass(frozen=True, slots=True)
class Use:
    """What a pod has used: CPU seconds since it began, memory of its working set in bytes, and when that was."""

    cpu: float
    memory: int
    at: float


def main() -> None:
    """Measure, print a line a component; with --write put them into the component.yaml files."""
    parser = argparse.ArgumentParser(prog="benchmarks.costs", description=__doc__)
    parser.add_argument("--name", default="modelyard", help="the embedded cluster")
    parser.add_argument("--write", action="store_true", help="write them into manifests/*/*/component.yaml")
    options = parser.parse_args()
    components = load(data_root()).components
    for name, cost in measure(connect(layout(options.name).kubeconfig), components).items():
        print(f"{name}: {cost.cpu} m, {cost.memory} MiB")
        if options.write:
            _write(components[name], cost)


def measure(session: Session, components: Mapping[str, Component]) -> dict[str, Cost]:
    """Return what each installed component that has pods uses at rest, by name; without those that do not rest."""
    time.sleep(SETTLING_SECONDS)
    before = uses(session)
    time.sleep(SECONDS)
    after = uses(session)
    owners = {kind.kind: _items(session, kind) for kind in (*_WORKLOADS, GroupKind("apps", "ReplicaSet"))}
    belongs = pods_of(components, _items(session, GroupKind("", "Pod")), owners)
    costs = {name: cost_of([(before.get(uid), after.get(uid)) for uid in belongs[name]]) for name in sorted(belongs)}
    return {name: cost for name, cost in costs.items() if cost is not None}


def uses(session: Session) -> dict[str, Use]:
    """Return what every pod has used, by its uid, as the kubelets say."""
    found: dict[str, Use] = {}
    for node in _items(session, GroupKind("", "Node")):
        path = f"/api/v1/nodes/{text(node, 'metadata', 'name')}/proxy/stats/summary"
        answer = session.transport.send("GET", path)
        if answer.code == 200:  # a simulated node has no kubelet
            found |= dict(_summary(json.loads(answer.body)))
    return found


def _summary(summary: Object) -> Iterator[tuple[str, Use]]:
    for pod in mappings(summary, "pods"):
        cpu, memory = dig(pod, "cpu", "usageCoreNanoSeconds"), dig(pod, "memory", "workingSetBytes")
        if isinstance(cpu, int) and isinstance(memory, int):
            at = datetime.fromisoformat(text(pod, "cpu", "time"))
            yield text(pod, "podRef", "uid"), Use(cpu / 1e9, memory, at.timestamp())


def pods_of(
    components: Mapping[str, Component], pods: Iterable[Object], owners: Mapping[str, Iterable[Object]]
) -> dict[str, list[str]]:
    """Return the uids of each component's pods.

    A pod is of the component whose workload owns it; one that only a custom resource owns is of the component that has
    its namespace to itself.

    Args:
        components: by name.
        pods: all pods.
        owners: workloads and ReplicaSets by kind.
    """
    by_uid = {text(each, "metadata", "uid"): each for kind in owners.values() for each in kind}
    names = {applyset_id(name): name for name in components}
    spaces: dict[str | None, list[str]] = {}
    for component in components.values():
        spaces.setdefault(component.namespace, []).append(component.name)
    found: dict[str, list[str]] = {}
    for pod in pods:
        alone = spaces.get(text(pod, "metadata", "namespace"), [])
        name = names.get(_applyset(pod, by_uid)) or (alone[0] if len(alone) == 1 else None)
        if name is not None and name in components and text(pod, "status", "phase") == "Running":
            found.setdefault(name, []).append(text(pod, "metadata", "uid"))
    return found


def _applyset(obj: Object, by_uid: Mapping[str, Object]) -> str:
    """Return the ApplySet of what owns `obj` in the end."""
    owner: Object | None = obj
    while owner is not None:
        if part_of := labels_of(owner).get(PART_OF_LABEL):
            return part_of
        above = [text(each, "uid") for each in mappings(owner, "metadata", "ownerReferences")]
        owner = by_uid.get(above[0]) if above else None
    return ""


def cost_of(uses: Iterable[tuple[Use | None, Use | None]]) -> Cost | None:
    """Return the cost of some pods, each by what it had used before and after; None where one came or went between."""
    cpu = memory = 0.0
    for before, after in uses:
        if before is None or after is None or after.at <= before.at:
            return None
        cpu += (after.cpu - before.cpu) / (after.at - before.at)
        memory += after.memory
    return Cost(cpu=math.ceil(1000 * cpu), memory=max(1, math.ceil(memory / _MIB)))


def with_cost(content: str, cost: Cost) -> str:
    """Return a component.yaml with its cost, in place of the one that it had."""
    line = f"cost: {{cpu: {cost.cpu}, memory: {cost.memory}}}\n"
    return _COST.sub(line, content) if _COST.search(content) else content.rstrip("\n") + "\n" + line


def _write(component: Component, cost: Cost) -> None:
    path = data_root() / "manifests" / component.area / component.name / "component.yaml"
    path.write_text(with_cost(path.read_text(encoding="utf-8"), cost), encoding="utf-8")


def _items(session: Session, kind: GroupKind) -> tuple[Object, ...]:
    listing = session.list(kind)
    return listing.items if listing else ()


if __name__ == "__main__":
    main()
