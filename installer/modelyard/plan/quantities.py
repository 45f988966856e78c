"""Which fields hold a resource quantity ("100m", "1Gi"): only there do two notations mean the same. Pure.

The apiserver rewrites quantities of its own kinds ("1000m" becomes "1"). Of custom resources it keeps what was sent,
but controllers' webhooks and conversions rewrite those too.
"""

from __future__ import annotations

from collections.abc import Callable

from modelyard.objects import GroupKind, Object, dig, mapping, mappings, text
from modelyard.plan import kinds

# Keys from the object's top down; ITEM stands for any element of a list, and in the table for any key of a map.
Path = tuple[str, ...]
ITEM = "*"
# A kind -> its live CustomResourceDefinition; None where there is none.
Definitions = Callable[[GroupKind], Object | None]

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_FILES = (ITEM, "resourceFieldRef", "divisor")
_CLAIM_SPEC: tuple[Path, ...] = (("resources", "requests", ITEM), ("resources", "limits", ITEM))
_POD_SPEC: tuple[Path, ...] = (
    ("overhead", ITEM),
    *_CLAIM_SPEC,
    *(
        (name, ITEM, *rest)
        for name in _CONTAINERS
        for rest in (*_CLAIM_SPEC, ("env", ITEM, "valueFrom", "resourceFieldRef", "divisor"))
    ),
    *(
        ("volumes", ITEM, *rest)
        for rest in (
            ("emptyDir", "sizeLimit"),
            ("downwardAPI", "items", *_FILES),
            ("projected", "sources", ITEM, "downwardAPI", "items", *_FILES),
            *(("ephemeral", "volumeClaimTemplate", "spec", *claim) for claim in _CLAIM_SPEC),
        )
    ),
)
_TEMPLATE = ("spec", "template", "spec")
_METRICS: tuple[Path, ...] = tuple(
    ("spec", "metrics", ITEM, source, "target", value)
    for source in ("containerResource", "external", "object", "pods", "resource")
    for value in ("averageValue", "value")
)
_DEVICE_REQUESTS: tuple[Path, ...] = tuple(
    ("devices", "requests", ITEM, *which, "capacity", "requests", ITEM)
    for which in (("exactly",), ("firstAvailable", ITEM))
)
_DEVICE_CAPACITY: tuple[Path, ...] = (
    ("value",),
    ("requestPolicy", "default"),
    ("requestPolicy", "validValues", ITEM),
    *(("requestPolicy", "validRange", bound) for bound in ("max", "min", "step")),
)


def _below(head: Path, paths: tuple[Path, ...]) -> frozenset[Path]:
    return frozenset((*head, *path) for path in paths)


# Fields of Kubernetes' own kinds that a manifest may hold, statuses left out. Held against a real apiserver's OpenAPI
# document by tests/apply/test_quantities.py.
BUILT_IN = {
    GroupKind("", "Pod"): _below(("spec",), _POD_SPEC),
    GroupKind("", "PodTemplate"): _below(("template", "spec"), _POD_SPEC),
    GroupKind("", "ReplicationController"): _below(_TEMPLATE, _POD_SPEC),
    GroupKind("apps", "DaemonSet"): _below(_TEMPLATE, _POD_SPEC),
    GroupKind("apps", "Deployment"): _below(_TEMPLATE, _POD_SPEC),
    GroupKind("apps", "ReplicaSet"): _below(_TEMPLATE, _POD_SPEC),
    GroupKind("apps", "StatefulSet"): _below(_TEMPLATE, _POD_SPEC)
    | _below(("spec", "volumeClaimTemplates", ITEM, "spec"), _CLAIM_SPEC),
    GroupKind("batch", "CronJob"): _below(("spec", "jobTemplate", *_TEMPLATE), _POD_SPEC),
    GroupKind("batch", "Job"): _below(_TEMPLATE, _POD_SPEC),
    GroupKind("", "PersistentVolume"): frozenset({("spec", "capacity", ITEM)}),
    GroupKind("", "PersistentVolumeClaim"): _below(("spec",), _CLAIM_SPEC),
    GroupKind("", "ResourceQuota"): frozenset({("spec", "hard", ITEM)}),
    GroupKind("", "LimitRange"): frozenset(
        ("spec", "limits", ITEM, bound, ITEM)
        for bound in ("default", "defaultRequest", "max", "maxLimitRequestRatio", "min")
    ),
    GroupKind("autoscaling", "HorizontalPodAutoscaler"): frozenset(
        {*_METRICS, *(("spec", "behavior", way, "tolerance") for way in ("scaleDown", "scaleUp"))}
    ),
    GroupKind("node.k8s.io", "RuntimeClass"): frozenset({("overhead", "podFixed", ITEM)}),
    GroupKind("resource.k8s.io", "ResourceClaim"): _below(("spec",), _DEVICE_REQUESTS),
    GroupKind("resource.k8s.io", "ResourceClaimTemplate"): _below(("spec", "spec"), _DEVICE_REQUESTS),
    GroupKind("resource.k8s.io", "ResourceSlice"): _below(("spec", "devices", ITEM, "capacity", ITEM), _DEVICE_CAPACITY)
    | {
        ("spec", "devices", ITEM, "consumesCounters", ITEM, "counters", ITEM, "value"),
        ("spec", "sharedCounters", ITEM, "counters", ITEM, "value"),
    },
    GroupKind("storage.k8s.io", "CSIStorageCapacity"): frozenset({("capacity",), ("maximumVolumeSize",)}),
    GroupKind("storage.k8s.io", "VolumeAttachment"): frozenset(
        {("spec", "source", "inlineVolumeSpec", "capacity", ITEM)}
    ),
}


def is_quantity(kind: GroupKind, version: str, path: Path, definitions: Definitions) -> bool:
    """Tell whether the field at `path` holds a quantity.

    Args:
        kind: the object's kind.
        version: the version of it that the object is written in.
        path: the field.
        definitions: gives a custom kind's definition; asked only for custom kinds.
    """
    if not kinds.is_custom(kind):
        return any(_fits(each, path) for each in BUILT_IN.get(kind, ()))
    definition = definitions(kind)
    for served in mappings(definition, "spec", "versions"):
        if text(served, "name") == version:
            return _says_quantity(_schema_at(mapping(served, "schema", "openAPIV3Schema"), path))
    return False


def _fits(pattern: Path, path: Path) -> bool:
    return len(pattern) == len(path) and all(wanted in (ITEM, key) for wanted, key in zip(pattern, path, strict=True))


def _schema_at(schema: Object, path: Path) -> Object:
    for key in path:
        if text(schema, "type") == "array":
            schema = mapping(schema, "items")
        else:
            schema = mapping(schema, "properties", key) or mapping(schema, "additionalProperties")
    return schema


def _says_quantity(schema: Object) -> bool:
    """Tell a quantity from a port or a percentage: both are "int or string", only a quantity has suffixes.

    Source of the pattern: controller-gen's known types (sigs.k8s.io/controller-tools/pkg/crd/known_types.go).
    """
    return dig(schema, "x-kubernetes-int-or-string") is True and "[KMGTPE]i" in text(schema, "pattern")
