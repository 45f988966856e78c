"""Which components with metrics a cluster has: those with an inventory, or, of another tool, those whose mark is there.

A mark is an object that only one component brings.
"""

from __future__ import annotations

from collections.abc import Collection

from conformance.support.kinds import NAMESPACE
from modelyard.apply.members import read_all
from modelyard.cluster import Session
from modelyard.objects import ObjectRef


def _namespace(name: str) -> ObjectRef:
    return ObjectRef("", NAMESPACE.kind, "", name)


# By the job of prometheus.yaml, which has the component's name.
_MARKS = {
    "appwrapper": _namespace("appwrapper-system"),
    "cert-manager": _namespace("cert-manager"),
    "jobset": _namespace("jobset-system"),
    "karpenter": _namespace("karpenter"),
    "keda": _namespace("keda"),
    "kserve": _namespace("kserve"),
    "kube-state-metrics": _namespace("kube-state-metrics"),
    "kuberay": _namespace("ray-system"),
    "kueue": _namespace("kueue-system"),
    "kwok": _namespace("kwok-system"),
    "lws": _namespace("lws-system"),
    # Clouds have a metrics-server of their own, but not with a certificate of ours.
    "metrics-server": ObjectRef("cert-manager.io", "Certificate", "kube-system", "metrics-server"),
    "modelmesh": _namespace("modelmesh-serving"),
    "multus": ObjectRef("apps", "DaemonSet", "kube-system", "kube-multus-ds"),
    "node-exporter": ObjectRef("apps", "DaemonSet", "kube-system", "node-exporter"),
    "node-feature-discovery": _namespace("node-feature-discovery"),
    "prometheus": _namespace("modelyard-monitoring"),
    "traefik": _namespace("traefik"),
    "trainer": _namespace("kubeflow-system"),
    "training-operator": _namespace("kubeflow"),
}
NAMES = frozenset(_MARKS)


def installed(session: Session) -> set[str]:
    """Return the names of the components with metrics that the cluster has.

    Raises:
        AssertionError: an installed component lacks its mark.
    """
    return of(read_all(session), {name for name, mark in _MARKS.items() if session.get(mark) is not None})


def of(inventories: Collection[str], marked: Collection[str]) -> set[str]:
    """Decide which components with metrics there are. Pure.

    Args:
        inventories: components that have an inventory. None at all: another tool has installed the platform, and what
            is missing cannot be told from what was not asked for.
        marked: components whose mark is there.

    Raises:
        AssertionError: an installed component's mark is missing.
    """
    if not inventories:
        return set(marked)
    wanted = NAMES.intersection(inventories)
    missing = [f"{_MARKS[name]} of component {name}" for name in sorted(wanted.difference(marked))]
    assert not missing, f"installed, but missing: {', '.join(missing)}"
    return set(wanted)
