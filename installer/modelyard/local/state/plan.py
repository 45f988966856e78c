"""What the supervisor is to do, as data: decided by `up`, carried out by the supervisor.

Plain dataclasses and JSON, as the supervisor's memory is part of the idle platform's.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

CLUSTER = ""  # a component's `node` where it runs in the cluster's own namespaces


@dataclass(frozen=True, slots=True)
class Gate:
    """What must be there before a component starts.

    Args:
        kind: "tcp" (target HOST:PORT in the cluster's namespaces), "unix" (target a socket's path on the
            component's node) or "done" (target a one-time component that must have ended well).
        target: see `kind`.
    """

    kind: str
    target: str


@dataclass(frozen=True, slots=True)
class Component:
    """A process that the supervisor keeps running.

    Args:
        name: unique; on a node it ends with "@" and the node's name.
        argv: command line; argv[0] is an absolute path as the component's namespaces see it.
        node: node whose namespaces it runs in, or CLUSTER.
        env: its whole environment.
        gates: what must be there before it starts.
        once: True for a command that is to succeed once; it is tried again while it fails.
        stdin: file (as the supervisor sees it) that is its standard input, or "".
        stop_seconds: how long it may take to end after SIGTERM.
    """

    name: str
    argv: list[str]
    node: str = CLUSTER
    env: dict[str, str] = field(default_factory=dict)
    gates: list[Gate] = field(default_factory=list)
    once: bool = False
    stdin: str = ""
    stop_seconds: float = 2.0


@dataclass(frozen=True, slots=True)
class NodePlan:
    """A node: namespaces of its own with a root file system of its own.

    Args:
        name: node name, also its host name.
        root: folder that becomes its root.
        binds: host path to path in the root, read-only binds.
        cgroup: its cgroup, relative to each hierarchy.
        setup: `ip -batch` lines to run in its network namespace once its links are there.
        shapes: `tc -batch` lines to run there afterwards.
    """

    name: str
    root: str
    binds: dict[str, str]
    cgroup: str
    setup: list[str]
    shapes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plan:
    """All that the supervisor is to do.

    Args:
        cgroup: the cluster's cgroup, relative to each hierarchy.
        health: file that the supervisor keeps its components' health in.
        logs: folder of one log a component.
        links: `ip -batch` lines for the cluster's namespace; "{pid:NODE}" stands for a node's process.
        routes: `ip -batch` lines for the cluster's namespace after the nodes have their addresses.
        shapes: `tc -batch` lines for the cluster's namespace.
        upstream: HOST:PORT that connections to the inherited socket are forwarded to.
        nodes: the nodes.
        components: in the order in which they are started; they are stopped in the opposite one.
    """

    cgroup: str
    health: str
    logs: str
    links: list[str]
    routes: list[str]
    shapes: list[str]
    upstream: str
    nodes: list[NodePlan]
    components: list[Component]


def to_json(plan: Plan) -> str:
    """Return `plan` as JSON."""
    return json.dumps(asdict(plan), indent=1)


def from_json(text: str) -> Plan:
    """Return the plan that `to_json` wrote."""
    raw = json.loads(text)
    nodes = [NodePlan(**node) for node in raw.pop("nodes")]
    components = [
        Component(**{**entry, "gates": [Gate(**gate) for gate in entry["gates"]]}) for entry in raw.pop("components")
    ]
    return Plan(**raw, nodes=nodes, components=components)
