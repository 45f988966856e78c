"""`modelyard local up`: a cluster that runs, its nodes Ready."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from modelyard.errors import HostError, LocalClusterError
from modelyard.events import Emit, Note, StepProgress, discard
from modelyard.local.control_plane import dns
from modelyard.local.control_plane.api import Api
from modelyard.local.host import nics
from modelyard.local.host.addresses import NodeAddress, node_addresses
from modelyard.local.host.cgroups import find_cgroups, sweep
from modelyard.local.host.facts import HostFacts, gather
from modelyard.local.host.files import locked, make_private_dir, write_private
from modelyard.local.host.modules import load_missing
from modelyard.local.host.ports import listen
from modelyard.local.host.preflight import require
from modelyard.local.host.procfs import ProcessId
from modelyard.local.lifecycle.bring_down import stop_supervisor
from modelyard.local.lifecycle.planning import make_plan, node_cgroup
from modelyard.local.lifecycle.readiness import Waiting, apiserver_ready, nodes_ready, service_account_ready
from modelyard.local.node import components as node_components
from modelyard.local.node import fake_nodes
from modelyard.local.node import root as node_root
from modelyard.local.state import identities
from modelyard.local.state.etcd_data import begin_etcd, mark_etcd_as_served
from modelyard.local.state.layout import Layout, layout, make_root, names
from modelyard.local.state.plan import to_json
from modelyard.local.state.record import Record, read_record, record_of, running_supervisor, write_record
from modelyard.local.state.spec import ClusterInfo, ClusterSpec
from modelyard.local.supervisor.launch import launch
from modelyard.plan import embedded
from modelyard.steps import step

READY_SECONDS = 120.0
_OWN_PORT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class _Built:
    """What was built for a cluster: its programs by name, and the image of pause."""

    binaries: Mapping[str, Path]
    pause_image: Path


def up(
    spec: ClusterSpec,
    binaries: Mapping[str, Path],
    pause_image: Path,
    emit: Emit = discard,
    *,
    timeout: float = READY_SECONDS,
) -> ClusterInfo:
    """Bring the cluster `spec` up and return once all its nodes are Ready.

    A cluster that is up already is left as it is. One that was up before comes back with its data.

    Args:
        spec: the cluster as asked for.
        binaries: name to path of each program that the cluster runs.
        pause_image: OCI tar of the image that holds a pod's namespaces.
        emit: takes the progress events.
        timeout: seconds for the cluster to become ready, and before that for another command on it to end.

    Raises:
        HostError: the machine lacks something.
        LocalClusterError: the cluster cannot start, another command works on it, or it runs in another shape.
    """
    where = layout(spec.name)
    host = fit_host(spec.name)
    make_root(where)
    with _alone(where, emit, timeout):
        process = running_supervisor(where)
        if process is not None:
            return _already_up(where, spec, process, emit, timeout)
        return _start(where, host, spec, _Built(binaries, pause_image), emit, timeout)


def fit_host(name: str, cache: Path | None = None) -> HostFacts:
    """Return the machine's facts, once it has all that the cluster `name` needs.

    Args:
        name: cluster name.
        cache: where its binaries and images are to be built; None where they are built already.

    Raises:
        HostError: the machine lacks something.
    """
    where = layout(name)
    # A cluster that runs takes nothing more. Who is not root may not even look, and is told so by the checks.
    if os.geteuid() == 0 and running_supervisor(where) is not None:
        return gather(where.root)
    if os.geteuid() == 0:
        load_missing()
    host = gather(where.root, cache)
    require(host)
    sweep(find_cgroups())
    return host


def _start(
    where: Layout,
    host: HostFacts,
    spec: ClusterSpec,
    built: _Built,
    emit: Emit,
    timeout: float,
) -> ClusterInfo:
    nodes = node_addresses(spec.nodes)
    with step(emit, "cluster:prepare", f"Preparing cluster {spec.name}"):
        listener, port = _port(where, spec)
        try:
            _prepare(where, host, spec, nodes, built, port)
        except OSError as error:
            listener.close()
            raise _cannot_write(where, error) from error
    try:
        with step(emit, "cluster:start", f"Starting cluster {spec.name}"), listener:
            since = time.time()
            process = launch(where, listener)
            _make_ready(where, spec, nodes, Waiting(where, timeout, _progress(emit)), since)
    except BaseException:  # Ctrl-C too: half a cluster is of no use, and the next `up` starts anew
        _stop(where)
        raise
    return ClusterInfo(spec.name, where.kubeconfig, port, process.pid)


def _prepare(
    where: Layout,
    host: HostFacts,
    spec: ClusterSpec,
    nodes: list[NodeAddress],
    built: _Built,
    port: int,
) -> None:
    for folder in (where.binaries, where.pki, where.config, where.logs, where.nodes):
        make_private_dir(folder)
    begin_etcd(where)
    write_record(where, record_of(spec, port))
    where.health.unlink(missing_ok=True)
    identities.make_identities(where, nodes, port)
    write_private(where.config / "Corefile", dns.corefile(where))
    reserve = node_components.reserve_per_node(host.cpus, host.memory_mib, spec.nodes)
    for node in nodes:
        kubeconfigs = {
            name: json.dumps(identities.kubeconfig(where.pki, leaf, identities.NODE_URL))
            for name, leaf in (("kubelet", f"kubelet-{node.name}"), ("kube-proxy", "kube-proxy"))
        }
        cgroup = node_cgroup(where, node.name)
        files = node_components.files(node, where.pki, kubeconfigs, cgroup, reserve)
        node_root.prepare(where.node_root(node.name), node.name, files)
    plan = make_plan(spec, where, _link_binaries(where, built.binaries), built.pause_image)
    write_private(where.plan, to_json(plan))


def _cannot_write(where: Layout, error: OSError) -> HostError:
    cause = (error.strerror or str(error)) + (f": {error.filename}" if error.filename else "")
    return HostError(f"state folder {where.root}", cause, f"df -h {where.root.parent}, or set MODELYARD_STATE_DIR")


def _link_binaries(where: Layout, binaries: Mapping[str, Path]) -> dict[str, Path]:
    """Link every binary under its name, as the cache may call its files otherwise; return the links."""
    links = {name: where.binaries / name for name in binaries}
    for name, link in links.items():
        link.unlink(missing_ok=True)
        link.symlink_to(binaries[name].absolute())
    return links


def _make_ready(where: Layout, spec: ClusterSpec, nodes: list[NodeAddress], waiting: Waiting, since: float) -> None:
    api = Api(where.kubeconfig)
    waiting.until("apiserver", lambda: apiserver_ready(api))
    mark_etcd_as_served(where)
    waiting.until("its mark", _marked(api, spec.name))
    objects = dns.objects()
    if spec.fake_nodes:
        objects += fake_nodes.objects(spec.fake_nodes, spec.fake_gpus)
    for path, body in objects:
        waiting.until(path, _applied(api, path, body))
    for index in range(1, spec.fake_nodes + 1):
        name = fake_nodes.name(index)
        path = f"/api/v1/nodes/{name}/status"
        waiting.until(path, _applied(api, path, fake_nodes.status(name, spec.fake_gpus)))
    _forget_other_nodes(api, spec)
    expected = [node.name for node in nodes]
    expected += [fake_nodes.name(index) for index in range(1, spec.fake_nodes + 1)]
    waiting.until("nodes", lambda: nodes_ready(api, expected, since=since))
    for node in nodes:  # applied to nodes that are there: it would make those that are not
        path = f"/api/v1/nodes/{node.name}"
        waiting.until(path, _applied(api, path, nics.node_labels(node, spec.nics, spec.nic_mbit)))
    waiting.until("service account default/default", lambda: service_account_ready(api))
    api.close()


def _progress(emit: Emit) -> Callable[[str], None]:
    return lambda detail: emit(StepProgress("cluster:start", detail))


def _applied(api: Api, path: str, body: dict[str, object]) -> Callable[[], str]:
    def probe() -> str:
        api.apply(path, body)
        return ""

    return probe


def _marked(api: Api, name: str) -> Callable[[], str]:
    """Return what marks the cluster as an embedded one; one that an earlier modelyard made gets its mark too."""

    def probe() -> str:
        metadata = api.get_json("/api/v1/namespaces/kube-system")["metadata"]
        uid = str(metadata["uid"]) if isinstance(metadata, dict) else ""
        path = f"/api/v1/namespaces/{embedded.REF.namespace}/configmaps/{embedded.REF.name}"
        api.apply(path, embedded.mark_object(name, cluster=uid))
        return ""

    return probe


def _forget_other_nodes(api: Api, spec: ClusterSpec) -> None:
    """Delete the nodes of an earlier, larger shape: nothing will ever report for them.

    Those that a pod of the component `kwok` plays are whoever's made them.
    """
    keep = {node.name for node in node_addresses(spec.nodes)}
    keep |= {fake_nodes.name(index) for index in range(1, spec.fake_nodes + 1)}
    items = api.get_json("/api/v1/nodes").get("items")
    for item in items if isinstance(items, list) else []:
        if item["metadata"]["name"] not in keep and not fake_nodes.ignored_by_supervisor(item):
            api.delete(f"/api/v1/nodes/{item['metadata']['name']}")


def _already_up(where: Layout, spec: ClusterSpec, process: ProcessId, emit: Emit, timeout: float) -> ClusterInfo:
    record = read_record(where)
    if record is None:
        raise LocalClusterError(
            f"cluster {spec.name}",
            f"its supervisor runs (pid {process.pid}), but {where.record} cannot be read",
            f"modelyard local down --name {spec.name}",
        )
    asked = record_of(spec, spec.port or record.port)
    if asked != record:
        raise LocalClusterError(
            f"cluster {spec.name}",
            f"it is up (supervisor {process.pid}) in another shape: {_shape(record)}, not {_shape(asked)}",
            f"modelyard local down --name {spec.name}, then the same `up` again; data is kept",
        )
    with step(emit, "cluster:start", f"Cluster {spec.name} is up already"):
        _make_ready(where, spec, node_addresses(spec.nodes), Waiting(where, timeout, _progress(emit)), since=0.0)
    return ClusterInfo(spec.name, where.kubeconfig, record.port, process.pid, already_up=True)


def _shape(record: Record) -> str:
    nodes = f"{record.nodes} nodes" + (f" with {record.nics} NICs of {record.nic_mbit} Mbit/s" if record.nics else "")
    return f"port {record.port}, {nodes}, {record.fake_nodes} fake nodes with {record.fake_gpus} GPUs"


def _port(where: Layout, spec: ClusterSpec) -> tuple[socket.socket, int]:
    record = read_record(where)
    wanted = spec.port or (record.port if record else None)
    others = [read_record(layout(name)) for name in names() if name != spec.name]
    patience = _OWN_PORT_SECONDS if record and wanted == record.port else 0.0
    listener = listen(spec.name, wanted, frozenset(other.port for other in others if other), patience=patience)
    return listener, int(listener.getsockname()[1])


def _stop(where: Layout) -> None:
    process = running_supervisor(where)
    if process is not None:
        stop_supervisor(process)
    sweep(find_cgroups())


@contextmanager
def _alone(where: Layout, emit: Emit, timeout: float) -> Iterator[None]:
    """Be the only command that brings the cluster up or down; wait for another one."""
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(where.lock))
        except BlockingIOError:
            emit(Note(f"waiting: another command is bringing cluster {where.name} up or down"))
            try:
                stack.enter_context(locked(where.lock, patience=timeout))
            except BlockingIOError as error:
                raise LocalClusterError(
                    f"cluster {where.name}",
                    f"another `modelyard local` command is bringing it up or down; waited for {timeout:g} s",
                    "wait until it has ended, then run this again",
                ) from error
        yield
