"""The kinds that the tests speak of."""

from __future__ import annotations

from modelyard.objects import GroupKind

NAMESPACE = GroupKind("", "Namespace")
NODE = GroupKind("", "Node")
POD = GroupKind("", "Pod")
EVENT = GroupKind("", "Event")
SERVICE_ACCOUNT = GroupKind("", "ServiceAccount")
JOB = GroupKind("batch", "Job")
WORKLOAD = GroupKind("kueue.x-k8s.io", "Workload")
RESOURCE_FLAVOR = GroupKind("kueue.x-k8s.io", "ResourceFlavor")
COHORT = GroupKind("kueue.x-k8s.io", "Cohort")
TOPOLOGY = GroupKind("kueue.x-k8s.io", "Topology")
CLUSTER_QUEUE = GroupKind("kueue.x-k8s.io", "ClusterQueue")
LOCAL_QUEUE = GroupKind("kueue.x-k8s.io", "LocalQueue")
PRIORITY_CLASS = GroupKind("kueue.x-k8s.io", "WorkloadPriorityClass")
APP_WRAPPER = GroupKind("workload.codeflare.dev", "AppWrapper")
CERTIFICATE = GroupKind("cert-manager.io", "Certificate")
NODE_CLAIM = GroupKind("karpenter.sh", "NodeClaim")
