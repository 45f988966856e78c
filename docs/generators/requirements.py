"""The requirements of the Kubernetes AI conformance checklist, by id: component.yaml names those that it serves.

The ids and levels are those of SOURCE; the titles are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

VERSION = "1.37"
SOURCE = "https://github.com/cncf/k8s-ai-conformance/blob/main/docs/AIConformance-1.37.yaml"


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement.

    Args:
        id: as the checklist calls it.
        level: MUST or SHOULD.
        title: what it asks for, in a few words.
    """

    id: str
    level: str
    title: str


REQUIREMENTS: tuple[Requirement, ...] = (
    Requirement("driver_runtime_management", "SHOULD", "Accelerators' drivers and container runtimes can be verified"),
    Requirement("gpu_sharing", "SHOULD", "One accelerator can be shared by several workloads"),
    Requirement("virtualized_accelerator", "SHOULD", "Virtual accelerators are offered and managed like parts of real"),
    Requirement("ai_inference", "MUST", "Gateway API in front of inference: weighted and header-based routes"),
    Requirement(
        "advanced_inference_ingress", "SHOULD", "Gateway API Inference Extension: routes by what models report"
    ),
    Requirement("high_performance_networking", "SHOULD", "Several fast networks a pod, found and scheduled by"),
    Requirement("disaggregated_inference", "SHOULD", "Prefill and decode as parts that scale by themselves"),
    Requirement("gang_scheduling", "MUST", "Distributed jobs start as a whole or not at all"),
    Requirement("cluster_autoscaling", "MUST", "Node groups with accelerators grow and shrink with pending pods"),
    Requirement(
        "pod_autoscaling", "MUST", "HorizontalPodAutoscaler for pods with accelerators, also by custom metrics"
    ),
    Requirement("accelerator_metrics", "MUST", "Use and memory of each accelerator as metrics"),
    Requirement("ai_service_metrics", "MUST", "Metrics of workloads are found and collected"),
    Requirement("secure_accelerator_access", "MUST", "Containers reach only the accelerators they were given"),
    Requirement("workload_sandboxing", "SHOULD", "Workloads that are not trusted run apart from the node's kernel"),
    Requirement("robust_controller", "MUST", "A complex AI operator runs, with its webhooks and resources"),
)
