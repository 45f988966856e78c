"""Which components with metrics a cluster has, by an object that only they bring: any tool may have installed them."""

from __future__ import annotations

from conformance.support.kinds import NAMESPACE
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
    """Return the names of the components with metrics that the cluster has."""
    return {name for name, mark in _MARKS.items() if session.get(mark) is not None}
