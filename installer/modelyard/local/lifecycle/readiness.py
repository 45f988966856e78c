"""Wait until a cluster is up, and say what it last was while it is not."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modelyard.errors import LocalClusterError
from modelyard.local.control_plane.api import Api
from modelyard.local.host.files import read_json
from modelyard.local.node.fake_nodes import SIMULATED_LABEL
from modelyard.local.state.layout import Layout
from modelyard.local.state.logs import tail
from modelyard.local.state.record import running_supervisor

_POLL = 0.1  # seconds


class Waiting:
    """A deadline that a starting cluster must meet.

    Args:
        layout: the cluster's paths.
        seconds: from now.
        progress: called with what is waited for, when that changes.
    """

    def __init__(self, layout: Layout, seconds: float, progress: Callable[[str], None]) -> None:
        self._layout = layout
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._progress = progress
        self._last = ""

    def until(self, what: str, probe: Callable[[], str]) -> None:
        """Call `probe` until it returns "" (it returns what it saw otherwise).

        Raises:
            LocalClusterError: the deadline passed, or the supervisor ended.
        """
        while seen := _ask(probe):
            if seen != self._last:
                self._progress(f"{what}: {seen}")
                self._last = seen
            if running_supervisor(self._layout) is None:
                raise self._error(what, f"the supervisor ended: {_last_line(self._layout, 'supervisor')}")
            if time.monotonic() > self._deadline:
                raise self._error(what, f"not after {self._seconds:g} s: {seen}{_unwell(self._layout)}")
            time.sleep(_POLL)

    def _error(self, what: str, cause: str) -> LocalClusterError:
        name = self._layout.name
        return LocalClusterError(f"cluster {name}: {what}", cause, f"modelyard local logs --name {name}")


def apiserver_ready(api: Api) -> str:
    """Return "" if the apiserver is ready, else what it lacks."""
    status, body = api.get("/readyz")
    if status == 200:
        return ""
    failed = [line[3:].split(" ")[0] for line in body.splitlines() if line.startswith("[-]")]
    return ", ".join(failed) or f"HTTP {status}"


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node as the apiserver has it.

    Args:
        name: node name.
        ready: its Ready condition.
        reason: why it is not ready, "" where it is.
        heartbeat: seconds since 1970 of the kubelet's last word on it, 0 where there was none.
        simulated: whether kwok plays it.
    """

    name: str
    ready: bool
    reason: str
    heartbeat: float
    simulated: bool


def nodes_ready(api: Api, names: Sequence[str], *, since: float) -> str:
    """Return "" if all nodes `names` are Ready, else which are not, and why.

    Args:
        api: the apiserver.
        names: the nodes that must be Ready.
        since: seconds since 1970; what a kubelet said before is of an earlier run, and does not count.
    """
    states = {state.name: state for state in node_states(api.get_json("/api/v1/nodes").get("items"))}
    waiting = []
    for name in names:
        state = states.get(name)
        if state is None:
            waiting.append(f"{name} is not registered")
        elif not state.ready:
            waiting.append(f"{name}: {state.reason}")
        elif state.heartbeat <= int(since) and not state.simulated:  # heartbeats have whole seconds
            waiting.append(f"{name}: its kubelet has not reported yet")
    return "; ".join(waiting)


def service_account_ready(api: Api) -> str:
    """Return "" if pods can be made in the namespace `default`, else what lacks."""
    status, _ = api.get("/api/v1/namespaces/default/serviceaccounts/default")
    return "" if status == 200 else f"HTTP {status}"


def node_states(items: object) -> list[NodeState]:
    """Return the state of each item of a NodeList."""
    return [_node_state(item) for item in items] if isinstance(items, list) else []


def _node_state(item: Mapping[str, Any]) -> NodeState:
    conditions = item.get("status", {}).get("conditions") or []
    ready: Mapping[str, str] = next((entry for entry in conditions if entry.get("type") == "Ready"), {})
    is_ready = ready.get("status") == "True"
    reason = ready.get("message") or ready.get("reason") or "no Ready condition yet"
    return NodeState(
        name=item["metadata"]["name"],
        ready=is_ready,
        reason="" if is_ready else reason,
        heartbeat=_seconds(ready.get("lastHeartbeatTime")),
        simulated=(item["metadata"].get("labels") or {}).get(SIMULATED_LABEL) == "true",
    )


def _seconds(timestamp: str | None) -> float:
    return datetime.datetime.fromisoformat(timestamp).timestamp() if timestamp else 0.0


def _ask(probe: Callable[[], str]) -> str:
    try:
        return probe()
    except OSError as error:
        return f"no answer ({error})"


def _last_line(layout: Layout, component: str) -> str:
    return (tail(layout.log(component), 1) or ["its log is empty"])[0]


def _unwell(layout: Layout) -> str:
    """Return the components that restarted, with the last line of the log of each."""
    components = (read_json(layout.health) or {}).get("components")
    if not isinstance(components, dict):
        return ""
    texts = [
        f"; {name} {entry['last_exit']} ({entry['restarts']} restarts): {_last_line(layout, name)}"
        for name, entry in components.items()
        if entry["last_exit"] and entry["state"] != "done"
    ]
    return "".join(texts)
