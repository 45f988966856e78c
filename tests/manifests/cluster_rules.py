"""Rules about what manifests ask of their cluster: objects by name, access, security, addresses.

Each takes objects and returns what is wrong, one line a fault; its docstring is its reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from manifest_rules import WORKLOADS, containers, of_kind

from modelyard.objects import Object, annotations_of, dig, labels_of, mapping, mappings, ref_of, sequence, text
from modelyard.quantity import parse

LEVEL = "pod-security.kubernetes.io/enforce"
LEVELS = {"baseline", "restricted"}  # `privileged` is no level

# What every cluster has: made by the API server or the controller manager.
EVERYWHERE = frozenset(
    {
        "ClusterRole/admin",
        "ClusterRole/cluster-admin",
        "ClusterRole/edit",
        "ClusterRole/system:auth-delegator",
        "ClusterRole/system:node-problem-detector",
        "ClusterRole/system:kube-scheduler",
        "ClusterRole/system:volume-scheduler",
        "ClusterRole/view",
        "PriorityClass/system-cluster-critical",
        "PriorityClass/system-node-critical",
        "Role/kube-system/extension-apiserver-authentication-reader",
        "ServiceAccount/kube-system/horizontal-pod-autoscaler",
    }
)
_DOMAIN = re.compile(r"\.svc\.[a-z0-9]")
_NUMBERS = ("runAsUser", "runAsGroup", "fsGroup")


def silent_containers(objects: Iterable[Object]) -> list[str]:
    """A container without requests is invisible to the scheduler and the autoscaler: its node is overfilled."""
    return [
        f"{where} requests no {resource}"
        for where, container in containers(objects)
        for resource in ("cpu", "memory")
        if parse(dig(container, "resources", "requests", resource)) is None
    ]


def unprobed_containers(objects: Iterable[Object], excused: Mapping[str, str]) -> list[str]:
    """A container that hangs without a probe hangs for ever. `excused`: container name -> reason."""
    return [
        where
        for where, container in containers(of_kind(objects, "Deployment", "StatefulSet", "DaemonSet"))
        if text(container, "name") not in excused
        and not (dig(container, "livenessProbe") or dig(container, "readinessProbe"))
    ]


def open_namespaces(objects: Iterable[Object], excused: Mapping[str, str]) -> list[str]:
    """A namespace without a Pod Security level takes privileged pods. `excused`: namespace -> why it must."""
    return [
        f"{ref_of(ns)} has level {labels_of(ns).get(LEVEL) or 'none'}"
        for ns in of_kind(objects, "Namespace")
        if labels_of(ns).get(LEVEL) not in LEVELS
        and not (labels_of(ns).get(LEVEL) == "privileged" and text(ns, "metadata", "name") in excused)
    ]


def refused_pods(objects: Iterable[Object]) -> list[str]:
    """Pod Security refuses what falls short of its namespace's level: the Deployment is there, its pods never are.

    The fields of `restricted` that a controller can miss:
    https://kubernetes.io/docs/concepts/security/pod-security-standards/
    """
    objects = list(objects)
    restricted = {
        text(ns, "metadata", "name") for ns in of_kind(objects, "Namespace") if labels_of(ns).get(LEVEL) == "restricted"
    }
    workloads = [obj for obj in of_kind(objects, *WORKLOADS) if text(obj, "metadata", "namespace") in restricted]
    return [
        f"{ref_of(obj)}, container {text(container, 'name')}: {fault}"
        for obj in workloads
        for field in ("initContainers", "containers")
        for container in mappings(obj, "spec", "template", "spec", field)
        for fault in _short_of_restricted(mapping(obj, "spec", "template", "spec"), container)
    ]


def _short_of_restricted(pod: Object, container: Object) -> Iterator[str]:
    own, shared = mapping(container, "securityContext"), mapping(pod, "securityContext")
    if own.get("runAsNonRoot", shared.get("runAsNonRoot")) is not True:
        yield "runAsNonRoot is not true"
    if own.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation is not false"
    if "ALL" not in sequence(own, "capabilities", "drop"):
        yield "capabilities are not dropped"
    profile = text(own, "seccompProfile", "type") or text(shared, "seccompProfile", "type")
    if profile not in ("RuntimeDefault", "Localhost"):
        yield "no seccompProfile"
    if any("hostPath" in volume for volume in mappings(pod, "volumes")) or pod.get("hostNetwork"):
        yield "uses the host"


def unlimited_access(objects: Iterable[Object], excused: Mapping[str, str]) -> list[str]:
    """Who may do everything is no longer kept in by RBAC. `excused`: role or binding -> reason."""
    faults = []
    for obj in of_kind(objects, "ClusterRole", "Role"):
        for rule in mappings(obj, "rules"):
            stars = [field for field in ("apiGroups", "resources", "verbs") if "*" in sequence(rule, field)]
            faults += [f"{ref_of(obj)} has {', '.join(stars)} *"] if stars else []
    for obj in of_kind(objects, "ClusterRoleBinding", "RoleBinding"):
        if text(obj, "roleRef", "name") == "cluster-admin":
            faults.append(f"{ref_of(obj)} binds cluster-admin")
    return [fault for fault in faults if not any(fault.startswith(f"{name} ") for name in excused)]


def domain_in_names(objects: Iterable[Object]) -> list[str]:
    """The cluster's domain is its administrator's choice; a name that ends with .svc is found in every one."""
    return [
        f"{ref_of(obj)}: {value.strip()[:80]}"
        for obj in objects
        if text(obj, "kind") != "CustomResourceDefinition"
        for line in _strings(obj)
        for value in line.splitlines()
        if _DOMAIN.search(value)
    ]


# By what each cloud keeps a load balancer out of the internet; the sources are in overlays/<target>/traefik.
_INTERNAL = {
    "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type": "intranet",
    "service.beta.kubernetes.io/aws-load-balancer-scheme": "internal",
    "service.beta.kubernetes.io/azure-load-balancer-internal": "true",
    "service.kubernetes.io/ibm-load-balancer-cloud-provider-ip-type": "private",
}


def published_services(objects: Iterable[Object]) -> list[str]:
    """A load balancer stands in the internet unless the cloud is told otherwise, and that is a site's choice."""
    return [
        f"{ref_of(service)} is a {text(service, 'spec', 'type')}"
        for service in of_kind(objects, "Service")
        if text(service, "spec", "type") == "NodePort"
        or (text(service, "spec", "type") == "LoadBalancer" and not _INTERNAL.items() & annotations_of(service).items())
    ]


# Simulated nodes: the label that all of them carry (ADR 6)
SIMULATED = "modelyard.dev/simulated"


def daemons_on_simulated_nodes(objects: Iterable[Object]) -> list[str]:
    """What tends a node has nothing to tend on a simulated one: kwok says that it runs, and that is not true."""
    return [
        f"{ref_of(obj)} has a pod on every simulated node"
        for obj in of_kind(objects, "DaemonSet")
        if not _only_on_real_nodes(mapping(obj, "spec", "template", "spec", "affinity", "nodeAffinity"))
    ]


def _only_on_real_nodes(affinity: Object) -> bool:
    """Tell whether every term, one of which is enough for a node, leaves simulated nodes out."""
    terms = mappings(affinity, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    absent = (SIMULATED, "DoesNotExist")
    return bool(terms) and all(
        absent in [(text(each, "key"), text(each, "operator")) for each in mappings(term, "matchExpressions")]
        for term in terms
    )


# Objects by name


def names_of_nobody(objects: Iterable[Object], external: Mapping[str, Collection[str]]) -> list[str]:
    """What is named must be made by a component of the target, or declared `external` in target.yaml."""
    objects = list(objects)
    there = set(EVERYWHERE) | {f"{kind}/{name}" for kind, names in external.items() for name in names}
    for obj in objects:
        there.add(_name(text(obj, "kind"), text(obj, "metadata", "namespace"), text(obj, "metadata", "name")))
        if text(obj, "kind") == "Certificate":
            there.add(_name("Secret", text(obj, "metadata", "namespace"), text(obj, "spec", "secretName")))
    return sorted(
        {f"{ref_of(obj)} names {wanted}" for obj in objects for wanted in _wanted(obj) if wanted not in there}
    )


def _wanted(obj: Object) -> Iterator[str]:
    namespace = text(obj, "metadata", "namespace")
    if text(obj, "kind") in WORKLOADS:
        yield from _wanted_by_pod(mapping(obj, "spec", "template", "spec"), namespace)
    claims = [obj] if text(obj, "kind") == "PersistentVolumeClaim" else mappings(obj, "spec", "volumeClaimTemplates")
    for claim in claims:
        if name := text(claim, "spec", "storageClassName"):
            yield _name("StorageClass", "", name)
    if text(obj, "kind") in ("RoleBinding", "ClusterRoleBinding"):
        kind = text(obj, "roleRef", "kind")
        yield _name(kind, namespace if kind == "Role" else "", text(obj, "roleRef", "name"))
        for subject in mappings(obj, "subjects"):
            if text(subject, "kind") == "ServiceAccount":
                yield _name("ServiceAccount", text(subject, "namespace") or namespace, text(subject, "name"))


def _wanted_by_pod(pod: Object, namespace: str) -> Iterator[str]:
    account = text(pod, "serviceAccountName")
    if account not in ("", "default"):
        yield _name("ServiceAccount", namespace, account)
    if name := text(pod, "priorityClassName"):
        yield _name("PriorityClass", "", name)
    for volume in mappings(pod, "volumes"):
        yield from _named(volume, namespace, (("secret", "secretName", "Secret"), ("configMap", "name", "ConfigMap")))
    for field in ("initContainers", "containers"):
        for container in mappings(pod, field):
            for source in mappings(container, "envFrom"):
                yield from _named(source, namespace, _REFERENCES)
            for variable in mappings(container, "env"):
                yield from _named(mapping(variable, "valueFrom"), namespace, _REFERENCES)


_REFERENCES = (
    ("secretRef", "name", "Secret"),
    ("configMapRef", "name", "ConfigMap"),
    ("secretKeyRef", "name", "Secret"),
    ("configMapKeyRef", "name", "ConfigMap"),
)


def _named(source: Object, namespace: str, fields: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    for field, key, kind in fields:
        name = text(source, field, key)
        if name and not dig(source, field, "optional"):
            yield _name(kind, namespace, name)


def _name(kind: str, namespace: str, name: str) -> str:
    return "/".join(part for part in (kind, namespace, name) if part)


# OpenShift


def fixed_users(objects: Iterable[Object], excused: Mapping[str, str]) -> list[str]:
    """The SCC restricted-v2 refuses a pod that names a user or group id. `excused`: object -> reason."""
    return sorted(
        f"{ref_of(obj)} names {key} {value}"
        for obj in objects
        if text(obj, "kind") != "CustomResourceDefinition" and str(ref_of(obj)) not in excused
        for key, value in _numbers(obj)
    )


def security_grants(objects: Iterable[Object]) -> list[str]:
    """Return who is given which SCC: the reader must know each one."""
    return [
        f"{ref_of(obj)}: {text(obj, 'roleRef', 'name')}"
        for obj in of_kind(objects, "RoleBinding", "ClusterRoleBinding")
        if text(obj, "roleRef", "name").startswith("system:openshift:scc:")
    ]


def _numbers(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in _NUMBERS and isinstance(inner, int):
                yield str(key), inner
            yield from _numbers(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _numbers(inner)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
