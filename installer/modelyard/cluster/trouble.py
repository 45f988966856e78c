"""Why a workload is not ready, as its pods tell it: the container's state and its last log line."""

from __future__ import annotations

from modelyard.cluster.session import Session
from modelyard.errors import ModelyardError
from modelyard.objects import GroupKind, Object, mappings, ref_of, strings, text
from modelyard.readiness.containers import failing_container, last_line, needs_log, pod_trouble, with_log

POD = GroupKind("", "Pod")
_WITH_PODS = frozenset(
    {
        GroupKind("apps", "Deployment"),
        GroupKind("apps", "StatefulSet"),
        GroupKind("apps", "DaemonSet"),
        GroupKind("apps", "ReplicaSet"),
        GroupKind("batch", "Job"),
    }
)


def last_said(session: Session, obj: Object) -> str:
    """Return the last log line of a workload's youngest pod; empty where there is none to be had."""
    for pod in _pods(session, obj)[:1]:
        name, state = failing_container(pod)
        first = next((text(each, "name") for each in mappings(pod, "spec", "containers")), "")
        return _said(session, pod, name or first, state)
    return ""


def workload_trouble(session: Session, obj: Object) -> str:
    """Return "container manager: CrashLoopBackOff: ..." for a workload that is not ready.

    Empty where it has no pod in trouble, or nothing can be found out: it only explains.
    """
    for pod in _pods(session, obj):
        trouble = pod_trouble(pod)
        if trouble:
            return with_log(trouble, _log_line(session, pod))
    return ""


def _pods(session: Session, obj: Object) -> list[Object]:
    """Return a workload's pods, the youngest first: it is of the last revision."""
    ref = ref_of(obj)
    labels = strings(obj, "spec", "selector", "matchLabels")
    if ref.group_kind not in _WITH_PODS or not labels:
        return []
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    try:
        listing = session.list(POD, namespace=ref.namespace, label_selector=selector)
    except ModelyardError:
        return []
    return sorted(listing.items if listing else (), key=_age, reverse=True)


def _log_line(session: Session, pod: Object) -> str:
    return _said(session, pod, *failing_container(pod))


def _said(session: Session, pod: Object, container: str, state: str) -> str:
    if not container or not needs_log(state):
        return ""
    namespace, name = text(pod, "metadata", "namespace"), text(pod, "metadata", "name")
    previous = state.startswith("CrashLoopBackOff")
    return last_line(session.log_tail(namespace, name, container, previous=previous))


def _age(pod: Object) -> str:
    return text(pod, "metadata", "creationTimestamp")
