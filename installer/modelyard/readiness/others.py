"""Readiness of kinds that run no pods but have rules of their own.

Source: kubernetes-sigs/cli-utils, pkg/kstatus/status/core.go; APIService is not there and follows its
Available condition.
"""

from __future__ import annotations

from collections.abc import Callable

from modelyard.objects import GroupKind, Object, mappings, text
from modelyard.readiness.conditions import condition, describe
from modelyard.readiness.status import CURRENT, Readiness, failed, in_progress


def custom_resource_definition(obj: Object) -> Readiness:
    """Ready once Established; a name that another CRD has is final."""
    names = condition(obj, "NamesAccepted")
    if names.get("status") == "False":
        return failed(describe(names) or "names not accepted")
    established = condition(obj, "Established")
    if established.get("status") == "True":
        return CURRENT
    return in_progress(describe(established) or "not established")


def api_service(obj: Object) -> Readiness:
    """Ready once Available."""
    available = condition(obj, "Available")
    if available.get("status") == "True":
        return CURRENT
    return in_progress(describe(available) or "not available")


def persistent_volume_claim(obj: Object) -> Readiness:
    """Ready once Bound."""
    phase = text(obj, "status", "phase")
    if phase == "Bound":
        return CURRENT
    if phase == "Lost":
        return failed("its volume is lost")
    return in_progress(f"phase {phase or 'Pending'}, not bound")


def service(obj: Object) -> Readiness:
    """Ready once a load balancer, where one is asked for, has an address."""
    if text(obj, "spec", "type") == "LoadBalancer" and not mappings(obj, "status", "loadBalancer", "ingress"):
        return in_progress("its load balancer has no address")
    return CURRENT


def namespace(obj: Object) -> Readiness:
    """Ready while it is not going."""
    phase = text(obj, "status", "phase")
    return CURRENT if phase in ("", "Active") else in_progress(f"phase {phase}")


# A kind of the same name in another group has nothing to do with these.
RULES: dict[GroupKind, Callable[[Object], Readiness]] = {
    GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"): custom_resource_definition,
    GroupKind("apiregistration.k8s.io", "APIService"): api_service,
    GroupKind("", "PersistentVolumeClaim"): persistent_volume_claim,
    GroupKind("", "Service"): service,
    GroupKind("", "Namespace"): namespace,
}
