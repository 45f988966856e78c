"""What keeps a pod from being ready, in words: the container, its state, its last log line."""

from __future__ import annotations

from modelyard.objects import Object, dig, mapping, mappings, text


def pod_trouble(pod: Object) -> str:
    """Return "container manager: CrashLoopBackOff: back-off 10s ..." for the first container in trouble.

    Falls back to why the pod is not scheduled; an empty string where nothing is known.
    """
    name, state = failing_container(pod)
    if name:
        return f"container {name}: {state}"
    for found in mappings(pod, "status", "conditions"):
        if found.get("type") == "PodScheduled" and found.get("status") == "False":
            return f"not scheduled: {text(found, 'message') or text(found, 'reason')}"
    return ""


def failing_container(pod: Object) -> tuple[str, str]:
    """Return the name and the state of the first container that waits, has ended or is not ready."""
    statuses = [*mappings(pod, "status", "initContainerStatuses"), *mappings(pod, "status", "containerStatuses")]
    for status in statuses:
        state = _state(status)
        if state:
            return text(status, "name"), state
    return "", ""


def needs_log(state: str) -> bool:
    """Tell whether a container in `state` ran, so that its log says why it is not ready."""
    return not state.startswith(("ImagePullBackOff", "ErrImage", "ContainerCreating", "PodInitializing", "Create"))


def last_line(log: str, *, limit: int = 200) -> str:
    """Return the last line of `log` that says something, cut to `limit` characters."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    if not lines:
        return ""
    return lines[-1] if len(lines[-1]) <= limit else lines[-1][: limit - 1] + "…"


def with_log(trouble: str, line: str) -> str:
    """Join a pod's trouble and its container's last log line."""
    return f"{trouble}: {line}" if line else trouble


def _state(status: Object) -> str:
    waiting = mapping(status, "state", "waiting")
    if waiting:
        reason = text(waiting, "reason") or "Waiting"
        # The message repeats the pod's name and uid after the first clause; the log line says more.
        message = "" if reason in ("CrashLoopBackOff", "PodInitializing") else text(waiting, "message")
        return f"{reason}: {message}" if message else reason
    ended = mapping(status, "state", "terminated")
    if ended:
        code = ended.get("exitCode")
        return "" if code == 0 else f"{text(ended, 'reason') or 'Terminated'} (exit code {code})"
    if dig(status, "ready") is False and dig(status, "state", "running") is not None:
        return "running, not ready"
    return ""
