"""Who decides how many pods a workload has, as its managedFields tell. Pure.

Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management and, for the names of the
autoscalers, each one's user agent: a horizontal autoscaler is a controller of kube-controller-manager, KEDA's scales to
and from zero itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from modelyard.objects import FIELD_MANAGER, GroupKind, Object, dig, mappings, ref_of, text

SCALED = frozenset(GroupKind("apps", kind) for kind in ("Deployment", "ReplicaSet", "StatefulSet"))
_AUTOSCALERS = ("kube-controller-manager", "keda", "keda-operator")


@dataclass(frozen=True, slots=True)
class Writer:
    """Who set a workload's `spec.replicas`, and when: RFC 3339 as the apiserver writes it.

    Both are empty after `kubectl scale --replicas 0`: the scale subresource leaves a zero out, so nobody owns it.
    """

    manager: str
    time: str


def is_autoscaled(obj: Object) -> bool:
    """Tell whether an autoscaler was the last to set the replicas of `obj`: their number is its business.

    Not so at zero, from which no horizontal autoscaler brings anything back.
    """
    return any(text(entry, "manager") in _AUTOSCALERS and _scales(entry) for entry in _owners(obj))


def scaled_down(obj: Object) -> Writer | None:
    """Return who took a workload of the platform to zero replicas; None where that is as it should be.

    As it should be: its manifest asks for none, or the platform does not manage it.
    """
    if ref_of(obj).group_kind not in SCALED or dig(obj, "spec", "replicas") != 0:
        return None
    if dig(obj, "metadata", "deletionTimestamp") is not None:
        return None
    if not any(_is_ours(entry) for entry in mappings(obj, "metadata", "managedFields")):
        return None
    owners = list(_owners(obj))
    if any(_is_ours(entry) for entry in owners):
        return None
    last = max(owners, key=lambda entry: text(entry, "time"), default={})
    return Writer(text(last, "manager"), text(last, "time"))


def ago(writer: Writer, now: datetime) -> str:
    """Return " 3 min ago" for people; empty where the time is not known, or lies ahead (clocks differ)."""
    try:
        minutes = (now - datetime.fromisoformat(writer.time)).total_seconds() / 60
    except (ValueError, TypeError):
        return ""
    if minutes < 0:
        return ""
    if minutes < 120:
        return f" {minutes:.0f} min ago"
    return f" {minutes / 60:.0f} h ago" if minutes < 48 * 60 else f" {minutes / 60 / 24:.0f} days ago"


def _owners(obj: Object) -> Iterator[Object]:
    for entry in mappings(obj, "metadata", "managedFields"):
        if dig(entry, "fieldsV1", "f:spec", "f:replicas") is not None:
            yield entry


def _is_ours(entry: Object) -> bool:
    return text(entry, "manager") == FIELD_MANAGER and text(entry, "operation") == "Apply"


def _scales(entry: Object) -> bool:
    return text(entry, "subresource") == "scale"
