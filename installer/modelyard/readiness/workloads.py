"""Readiness of what runs pods.

Source: kubernetes-sigs/cli-utils, pkg/kstatus/status/core.go. Two rules differ: a Job is ready when it is
complete (there: once it has started), and a container in CrashLoopBackOff is InProgress, not Failed
(a controller may crash until what it needs is there); both are as Flux's own readers have it.
"""

from __future__ import annotations

from collections.abc import Callable

from modelyard.objects import GroupKind, Object, dig, number, ref_of, text
from modelyard.readiness.conditions import condition, describe
from modelyard.readiness.containers import pod_trouble
from modelyard.readiness.status import CURRENT, Readiness, failed, in_progress


def deployment(obj: Object) -> Readiness:
    """Ready once all replicas are of the last revision, ready and available, and none is left over."""
    progressing = condition(obj, "Progressing")
    if progressing.get("reason") == "ProgressDeadlineExceeded":
        return failed(f"{_ready(obj)}: {describe(progressing)}")
    trouble = condition(obj, "ReplicaFailure")
    if trouble.get("status") == "True":
        return in_progress(f"{_ready(obj)}: {describe(trouble)}")
    if dig(obj, "status", "observedGeneration") is None:
        return in_progress(f"{_ready(obj)}: no controller has seen it yet")
    wanted = _wanted(obj)
    for field, what in (("updatedReplicas", "updated"), ("readyReplicas", "ready"), ("availableReplicas", "available")):
        found = number(obj, "status", field)
        if found < wanted:
            return in_progress(f"{found}/{wanted} {what}")
    if number(obj, "status", "replicas") > wanted:
        return in_progress(f"{number(obj, 'status', 'replicas') - wanted} old replicas still there")
    return CURRENT


def replica_set(obj: Object) -> Readiness:
    """Ready once all replicas are ready and available."""
    trouble = condition(obj, "ReplicaFailure")
    if trouble.get("status") == "True":
        return in_progress(f"{_ready(obj)}: {describe(trouble)}")
    wanted = _wanted(obj)
    for field, what in (("replicas", "created"), ("readyReplicas", "ready"), ("availableReplicas", "available")):
        found = number(obj, "status", field)
        if found < wanted:
            return in_progress(f"{found}/{wanted} {what}")
    return CURRENT


def stateful_set(obj: Object) -> Readiness:
    """Ready once all replicas are ready and, above the partition, of the last revision."""
    if text(obj, "spec", "updateStrategy", "type") == "OnDelete":
        return CURRENT
    wanted = _wanted(obj)
    for field, what in (("replicas", "created"), ("readyReplicas", "ready")):
        found = number(obj, "status", field)
        if found < wanted:
            return in_progress(f"{found}/{wanted} {what}")
    partition = number(obj, "spec", "updateStrategy", "rollingUpdate", "partition")
    updated = number(obj, "status", "updatedReplicas")
    if partition and updated < wanted - partition:
        return in_progress(f"{updated}/{wanted - partition} updated")
    current, update = text(obj, "status", "currentRevision"), text(obj, "status", "updateRevision")
    if not partition and current != update:
        return in_progress(f"{updated}/{wanted} updated")
    return CURRENT


def daemon_set(obj: Object) -> Readiness:
    """Ready once every node that it wants has an updated, ready and available pod."""
    if dig(obj, "status", "observedGeneration") is None:
        return in_progress("no controller has seen it yet")
    wanted = number(obj, "status", "desiredNumberScheduled")
    fields = [("currentNumberScheduled", "scheduled"), ("numberReady", "ready"), ("numberAvailable", "available")]
    if text(obj, "spec", "updateStrategy", "type") != "OnDelete":
        fields.insert(1, ("updatedNumberScheduled", "updated"))
    for field, what in fields:
        found = number(obj, "status", field)
        if found < wanted:
            return in_progress(f"{found}/{wanted} {what}")
    return CURRENT


def job(obj: Object) -> Readiness:
    """Ready once complete; a suspended Job is as it was asked for."""
    if condition(obj, "Failed").get("status") == "True":
        return failed(describe(condition(obj, "Failed")) or "failed")
    if condition(obj, "Complete").get("status") == "True":
        return CURRENT
    if dig(obj, "spec", "suspend") is True:
        return CURRENT
    wanted = number(obj, "spec", "completions", default=1)
    return in_progress(f"{number(obj, 'status', 'succeeded')}/{wanted} succeeded")


def pod(obj: Object) -> Readiness:
    """Ready once its Ready condition is true, or it has succeeded."""
    phase = text(obj, "status", "phase")
    if phase == "Succeeded":
        return CURRENT
    if phase == "Failed":
        return failed(pod_trouble(obj) or text(obj, "status", "message") or "failed")
    if condition(obj, "Ready").get("status") == "True":
        return CURRENT
    return in_progress(pod_trouble(obj) or f"phase {phase or 'Pending'}, not ready")


def pods_exist(obj: Object) -> bool:
    """Tell whether a workload's controller has created all of its pods, ready or not.

    From then on no admission webhook can keep it from starting.
    """
    kind = text(obj, "kind")
    if kind == "Deployment":
        return number(obj, "status", "observedGeneration") >= number(
            obj, "metadata", "generation", default=1
        ) and number(obj, "status", "updatedReplicas") >= _wanted(obj)
    if kind == "DaemonSet":
        scheduled = number(obj, "status", "currentNumberScheduled")
        return dig(obj, "status", "observedGeneration") is not None and scheduled >= number(
            obj, "status", "desiredNumberScheduled"
        )
    judge = RULES.get(ref_of(obj).group_kind)
    return judge is None or judge(obj).current


def _wanted(obj: Object) -> int:
    return number(obj, "spec", "replicas", default=1)


def _ready(obj: Object) -> str:
    return f"{number(obj, 'status', 'readyReplicas')}/{_wanted(obj)} ready"


RULES: dict[GroupKind, Callable[[Object], Readiness]] = {
    GroupKind("apps", "Deployment"): deployment,
    GroupKind("apps", "ReplicaSet"): replica_set,
    GroupKind("apps", "StatefulSet"): stateful_set,
    GroupKind("apps", "DaemonSet"): daemon_set,
    GroupKind("batch", "Job"): job,
    GroupKind("", "Pod"): pod,
}
