"""Pid 1 of a cluster's namespaces: `python -m modelyard.local.supervisor.main PLAN LISTEN_FD GO_FD`.

It makes the nodes' namespaces and links, starts the components in order, restarts the ones that end, reaps
orphans, forwards the host's port, and keeps health.json. When it ends, the kernel ends everything in its
pid namespace, and with the last process go the mounts, the links and the rules.

It imports little, as its memory is part of the idle platform's.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import socket
import sys
import time
from pathlib import Path

from modelyard.errors import LocalClusterError
from modelyard.local.host import cgroups, linux, network
from modelyard.local.node import nodes
from modelyard.local.state.logs import rotate_all, rotate_before_start
from modelyard.local.state.plan import CLUSTER, Gate, Plan, from_json
from modelyard.local.supervisor.forward import forward
from modelyard.local.supervisor.process import Process, State, say

_STOP_GRACE = 2.0  # seconds that the pods' processes have after SIGTERM
_ROTATE_EVERY = 60.0


class Supervisor:
    """The components of one cluster."""

    def __init__(self, plan: Plan, listener: socket.socket) -> None:
        self._plan = plan
        self._listener = listener
        self._holders: dict[str, int] = {}
        self._processes: dict[str, Process] = {}
        self._stopping = asyncio.Event()
        self._dirty = asyncio.Event()

    def build(self) -> None:
        """Make cgroups, namespaces, roots and links. Nothing runs yet.

        Raises:
            OSError: the kernel refused.
            LocalClusterError: another command holds the machine's cgroups.
            RuntimeError: a node's namespaces or a link could not be made.
        """
        plan = self._plan
        linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
        linux.set_hostname("modelyard")
        cgroups.create(cgroups.find_cgroups(), plan.cgroup, [node.name for node in plan.nodes])
        network.forward_packets()
        holders = [nodes.start_holder(node) for node in plan.nodes]
        for holder in holders:
            holder.wait()
        self._holders = {holder.node.name: holder.pid for holder in holders}
        pids = {f"{{pid:{name}}}": str(pid) for name, pid in self._holders.items()}
        network.run_batch([_fill(line, pids) for line in plan.links])
        for holder in holders:
            network.run_batch(holder.node.setup, prefix=nodes.enter_command(holder.pid))
            network.run_batch(holder.node.shapes, tool="tc", prefix=nodes.enter_command(holder.pid))
        network.run_batch(plan.routes)
        network.run_batch(plan.shapes, tool="tc")

    async def run(self) -> None:
        """Run all components until SIGTERM or SIGINT, then stop them in the opposite order."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGCHLD, self._reap)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        self._processes = {process.component.name: process for process in self._make_processes()}
        host, port = self._plan.upstream.rsplit(":", 1)
        server = await forward(self._listener, host, int(port))
        tasks = [asyncio.create_task(process.supervise()) for process in self._processes.values()]
        tasks += [asyncio.create_task(self._keep_health()), asyncio.create_task(self._keep_logs_small())]
        for task in tasks:
            task.add_done_callback(self._complain)
        await self._stopping.wait()
        say("stopping")
        server.close()
        for task in tasks:
            task.cancel()
        await self._stop_all()

    def _make_processes(self) -> list[Process]:
        made = []
        for component in self._plan.components:
            log = f"{self._plan.logs}/{component.name}.log"
            rotate_before_start(Path(log))
            prefix = [] if component.node == CLUSTER else nodes.enter_command(self._holders[component.node])
            made.append(Process(component, prefix, log, self._dirty.set, self._gate_open))
        return made

    def _gate_open(self, process: Process, gate: Gate) -> bool:
        if gate.kind == "done":
            return self._processes[gate.target].state is State.DONE
        if gate.kind == "unix":
            return _answers_unix(f"/proc/{self._holders[process.component.node]}/root{gate.target}")
        return _answers_tcp(gate.target)

    def _reap(self) -> None:
        by_pid = {process.pid: process for process in self._processes.values() if process.pid is not None}
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in by_pid:
                by_pid[pid].reaped(status)
            elif pid in self._holders.values() and not self._stopping.is_set():
                say("the holder of a node's namespaces ended: the cluster cannot go on")
                self._stopping.set()

    async def _keep_health(self) -> None:
        while True:
            self._write_health()
            self._dirty.clear()
            await self._dirty.wait()
            await asyncio.sleep(0.05)  # several components change at once when the cluster starts

    def _write_health(self) -> None:
        health = {
            "nodes": self._holders,
            "components": {
                name: {
                    "node": process.component.node,
                    "state": process.state.value,
                    "pid": process.pid,
                    "restarts": process.restarts,
                    "last_exit": process.last_exit,
                    "waiting_for": process.waiting_for,
                }
                for name, process in self._processes.items()
            },
        }
        path = Path(self._plan.health)
        fresh = path.with_suffix(".new")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(health))
        fresh.replace(path)

    async def _keep_logs_small(self) -> None:
        while True:
            await asyncio.sleep(_ROTATE_EVERY)
            rotate_all(Path(self._plan.logs))

    def _complain(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            say(f"supervisor: {error!r}")
            self._stopping.set()

    async def _stop_all(self) -> None:
        on_nodes = [process for process in self._processes.values() if process.component.node != CLUSTER]
        cluster = [process for process in self._processes.values() if process.component.node == CLUSTER]
        await asyncio.gather(*(process.stop() for process in on_nodes))
        await self._end_pods()
        *others, etcd = reversed(cluster)  # etcd is the first to start and the last to stop
        await asyncio.gather(*(process.stop() for process in others))
        await etcd.stop()
        self._write_health()
        say("stopped")

    async def _end_pods(self) -> None:
        """Give what is left on the nodes (shims and pods) a chance to end by itself."""
        keep = {1, *self._holders.values()}
        keep |= {process.pid for process in self._processes.values() if process.pid is not None}
        deadline = time.monotonic() + _STOP_GRACE
        first = True
        while rest := [pid for pid in _all_pids() if pid not in keep]:
            for pid in rest if first else []:
                _terminate(pid)
            first = False
            if time.monotonic() > deadline:
                say(f"{len(rest)} processes of pods did not end in {_STOP_GRACE:g} s")
                return
            await asyncio.sleep(0.05)


def _fill(line: str, values: dict[str, str]) -> str:
    for key, value in values.items():
        line = line.replace(key, value)
    return line


def _answers_tcp(target: str) -> bool:
    host, port = target.rsplit(":", 1)
    try:
        with socket.create_connection((host, int(port)), timeout=0.2):
            return True
    except OSError:
        return False


def _answers_unix(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(0.2)
        try:
            probe.connect(path)
        except OSError:
            return False
        return True


def _all_pids() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]  # noqa: PTH208


def _terminate(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return


def _allow_many_files() -> None:
    """Raise the limit of open files: every forwarded connection takes two."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def main(argv: list[str]) -> int:
    """Run the supervisor of the plan in `argv[1]`; return its exit code."""
    plan_path, listen_fd, go_fd = argv[1], int(argv[2]), int(argv[3])
    for handle in (listen_fd, go_fd):
        os.set_inheritable(handle, False)
    with os.fdopen(go_fd, "rb") as go:
        if go.read(1) != b"g":
            say("the launcher ended before it had written down this process: ending too")
            return 1
    _allow_many_files()
    plan = from_json(Path(plan_path).read_text())
    supervisor = Supervisor(plan, socket.socket(fileno=listen_fd))
    try:
        supervisor.build()
    except (OSError, RuntimeError, LocalClusterError) as error:
        say(f"cannot start: {error}")
        return 1
    say("namespaces are ready")
    asyncio.run(supervisor.run())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
