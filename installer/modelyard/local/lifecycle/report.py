"""`modelyard local status`: what runs, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from modelyard.errors import LocalClusterError, ModelyardError
from modelyard.local.control_plane.api import Api
from modelyard.local.host.files import read_json
from modelyard.local.host.procfs import ProcessId, pids_inside, resident_bytes
from modelyard.local.lifecycle.readiness import apiserver_ready, node_states
from modelyard.local.node.nic_health import NicHealth, nic_health
from modelyard.local.state.layout import Layout, layout, names
from modelyard.local.state.record import Record, damage_of, read_record, running_supervisor
from modelyard.local.state.spec import check_name

API_VERSION = "modelyard.dev/local-status/v1"


@dataclass(frozen=True, slots=True)
class ComponentHealth:
    """A component's process.

    Args:
        name: component name; on a node it ends with "@" and the node's name.
        state: waiting, running, backoff, done or stopped.
        healthy: whether it is as it should be.
        pid: its pid on the host, None where it has none.
        restarts: how often it was started again since the cluster came up.
        last_exit: how it last ended, "" where it never did.
        waiting_for: what it waits for before it starts, or "".
        rss_bytes: its resident memory.
    """

    name: str
    state: str
    healthy: bool
    pid: int | None
    restarts: int
    last_exit: str
    waiting_for: str
    rss_bytes: int


@dataclass(frozen=True, slots=True)
class NodeHealth:
    """A node as the apiserver sees it; `reason` says why it is not ready."""

    name: str
    ready: bool
    reason: str
    simulated: bool


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """A cluster's state.

    Args:
        name: the cluster's.
        running: whether its supervisor lives.
        ready: whether the apiserver answers and every component, node and NIC is well.
        reason: the first thing that is wrong, or "".
        port: the apiserver's port on 127.0.0.1; 0 where it is not known.
        kubeconfig: path of its kubeconfig.
        supervisor_pid: pid on the host, None where it does not run.
        supervisor_rss_bytes: its resident memory.
        nodes: its nodes.
        components: its components.
        nics: the NICs of its nodes beside the pod network's.
    """

    name: str
    running: bool
    ready: bool
    reason: str
    port: int
    kubeconfig: str
    supervisor_pid: int | None
    supervisor_rss_bytes: int
    nodes: tuple[NodeHealth, ...]
    components: tuple[ComponentHealth, ...]
    nics: tuple[NicHealth, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the versioned document of `status -o json`."""
        return {
            "apiVersion": API_VERSION,
            "name": self.name,
            "running": self.running,
            "ready": self.ready,
            "reason": self.reason,
            "port": self.port,
            "kubeconfig": self.kubeconfig,
            "supervisor": {"pid": self.supervisor_pid, "rssBytes": self.supervisor_rss_bytes},
            "nodes": [
                {"name": node.name, "ready": node.ready, "reason": node.reason, "simulated": node.simulated}
                for node in self.nodes
            ],
            "nics": [{"node": nic.node, "name": nic.name, "up": nic.up, "reason": nic.reason} for nic in self.nics],
            "components": [
                {
                    "name": part.name,
                    "state": part.state,
                    "healthy": part.healthy,
                    "pid": part.pid,
                    "restarts": part.restarts,
                    "lastExit": part.last_exit,
                    "waitingFor": part.waiting_for,
                    "rssBytes": part.rss_bytes,
                }
                for part in self.components
            ],
        }


def status_of_all() -> list[ClusterStatus]:
    """Return the state of every cluster; one that cannot be told is not ready, with the cause."""
    return [_status_or_trouble(name) for name in names()]


def _status_or_trouble(name: str) -> ClusterStatus:
    try:
        return status(name)
    except ModelyardError as error:  # the others are shown all the same
        return _down(layout(name), 0, error.cause)


def status(name: str) -> ClusterStatus:
    """Return the state of the cluster `name`; one whose record is damaged is not ready.

    Raises:
        LocalClusterError: there is no such cluster.
    """
    where = layout(check_name(name))
    record, damage = read_record(where), damage_of(where)
    if record is None and not damage:
        known = ", ".join(names())
        cause = "there is no such cluster" + (f"; there are: {known}" if known else "")
        raise LocalClusterError(f"cluster {name}", cause, f"modelyard local up --name {name}")
    process = running_supervisor(where)
    if process is None:
        return _down(where, _port(record), damage or "the cluster is down")
    return _running(where, record, process, damage)


def _port(record: Record | None) -> int:
    return record.port if record else 0


def _down(where: Layout, port: int, reason: str) -> ClusterStatus:
    return ClusterStatus(
        name=where.name,
        running=False,
        ready=False,
        reason=reason,
        port=port,
        kubeconfig=str(where.kubeconfig),
        supervisor_pid=None,
        supervisor_rss_bytes=0,
        nodes=(),
        components=(),
    )


def _running(where: Layout, record: Record | None, process: ProcessId, damage: str) -> ClusterStatus:
    health = read_json(where.health) or {}
    host_pids = pids_inside(process.pid)
    components = _components(health, host_pids)
    nics = nic_health(record, _holders(health, host_pids)) if record else ()
    nodes, trouble = _nodes(where)
    wrong = damage or trouble or _first_wrong(components, nodes, nics)
    return ClusterStatus(
        name=where.name,
        running=True,
        ready=not wrong,
        reason=wrong,
        port=_port(record),
        kubeconfig=str(where.kubeconfig),
        supervisor_pid=process.pid,
        supervisor_rss_bytes=resident_bytes(process.pid),
        nodes=nodes,
        components=components,
        nics=nics,
    )


def _holders(health: Mapping[str, object], host_pids: Mapping[int, int]) -> dict[str, int]:
    """Return which process on the host holds each node's namespaces."""
    listed = health.get("nodes")
    if not isinstance(listed, dict):
        return {}
    return {str(name): host_pids[pid] for name, pid in listed.items() if pid in host_pids}


def _components(health: Mapping[str, object], host_pids: Mapping[int, int]) -> tuple[ComponentHealth, ...]:
    listed = health.get("components")
    if not isinstance(listed, dict):
        return ()
    return tuple(_component(name, entry, host_pids) for name, entry in listed.items())


def _component(name: str, entry: Mapping[str, object], host_pids: Mapping[int, int]) -> ComponentHealth:
    inner = entry["pid"]
    pid = host_pids.get(inner) if isinstance(inner, int) else None
    state = str(entry["state"])
    return ComponentHealth(
        name=name,
        state=state,
        healthy=state == "done" or (state == "running" and pid is not None),
        pid=pid,
        restarts=int(str(entry["restarts"])),
        last_exit=str(entry["last_exit"]),
        waiting_for=str(entry["waiting_for"]),
        rss_bytes=resident_bytes(pid) if pid is not None else 0,
    )


def _nodes(where: Layout) -> tuple[tuple[NodeHealth, ...], str]:
    """Return the nodes, and what is wrong with the apiserver, or ""."""
    try:
        api = Api(where.kubeconfig, timeout=3.0)
        trouble = apiserver_ready(api)
        items = api.get_json("/api/v1/nodes").get("items")
        api.close()
    except OSError as error:
        return (), f"apiserver: no answer ({error})"
    except LocalClusterError as error:
        return (), str(error.cause)
    found = tuple(NodeHealth(state.name, state.ready, state.reason, state.simulated) for state in node_states(items))
    return found, f"apiserver: {trouble}" if trouble else ""


def _first_wrong(
    components: tuple[ComponentHealth, ...], nodes: tuple[NodeHealth, ...], nics: tuple[NicHealth, ...]
) -> str:
    for part in components:
        if not part.healthy:
            detail = f" ({part.last_exit}, {part.restarts} restarts)" if part.last_exit else ""
            return f"component {part.name}: {part.state}{detail}"
    for node in nodes:
        if not node.ready:
            return f"node {node.name}: {node.reason}"
    for nic in nics:
        if not nic.up:
            return f"NIC {nic.name} of node {nic.node} {nic.reason}"
    return ""
