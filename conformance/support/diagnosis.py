"""What a failed test leaves for its reader: the Workloads, pods and events of its namespace."""

from __future__ import annotations

from conformance.support.kinds import EVENT, WORKLOAD
from conformance.support.workloads import table
from conformance.support.workspace import Workspace
from modelyard.errors import ModelyardError
from modelyard.objects import Object, number, text
from modelyard.readiness.containers import pod_trouble

EVENTS = 40
LOG_LINES = 20


def diagnose(workspace: Workspace) -> str:
    """Return the state of a namespace; what cannot be read is said, not raised."""
    parts = []
    for title, read in (("workloads", _workloads), ("pods", _pods), ("events", _events)):
        try:
            parts.append(f"-- {title} --\n{read(workspace)}")
        except (ModelyardError, AssertionError) as error:
            parts.append(f"-- {title} --\ncannot be read: {error}")
    return "\n".join(parts)


def _workloads(workspace: Workspace) -> str:
    return table(workspace.list(WORKLOAD))


def _pods(workspace: Workspace) -> str:
    return "\n".join(_pod(workspace, pod) for pod in workspace.pods()) or "none"


def _pod(workspace: Workspace, pod: Object) -> str:
    name = text(pod, "metadata", "name")
    head = f"{name} {text(pod, 'status', 'phase')} on {text(pod, 'spec', 'nodeName') or 'no node'}: {pod_trouble(pod)}"
    tail = workspace.logs(name).splitlines()[-LOG_LINES:]
    return "\n    ".join([head, *tail])


def _events(workspace: Workspace) -> str:
    return "\n".join(map(_event, workspace.list(EVENT)[-EVENTS:])) or "none"


def _event(event: Object) -> str:
    about = f"{text(event, 'involvedObject', 'kind')}/{text(event, 'involvedObject', 'name')}"
    times = max(number(event, "count"), 1)
    return f"{times}x {text(event, 'type')} {text(event, 'reason')} {about}: {text(event, 'message')}"
