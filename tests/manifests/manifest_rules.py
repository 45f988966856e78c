"""Rules that rendered manifests must keep. Each takes objects and returns what is wrong, one line a fault."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal

from remembering import once_an_object

from modelyard.images import find
from modelyard.objects import (
    Object,
    annotations_of,
    dig,
    labels_of,
    mapping,
    mappings,
    number,
    ref_of,
    sequence,
    strings,
    text,
)
from modelyard.quantity import parse

PLATFORM_LABEL = "modelyard.dev/platform"
MANAGED = {"modelyard.dev/managed": "true"}  # what a namespace opts in by (ADR 11)
INJECT = "cert-manager.io/inject-ca-from"
AUTHORITY = "modelyard-ca"
WORKLOADS = {"Deployment", "StatefulSet", "DaemonSet", "Job"}
BUILT_IN = {
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "batch",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
}


# Of the kinds that live in a namespace, those of Kubernetes and cert-manager that components have.
_IN_A_NAMESPACE = {
    "Certificate", "ConfigMap", "CronJob", "DaemonSet", "Deployment", "HorizontalPodAutoscaler", "Issuer", "Job",
    "LimitRange", "NetworkPolicy", "PersistentVolumeClaim", "PodDisruptionBudget", "Role", "RoleBinding", "Secret",
    "Service", "ServiceAccount", "ServiceMonitor", "StatefulSet",
}  # fmt: skip


def of_kind(objects: Iterable[Object], *kinds: str) -> list[Object]:
    return [obj for obj in objects if text(obj, "kind") in kinds]


def pod_templates(objects: Iterable[Object]) -> list[tuple[str, Object]]:
    """Return the pod templates of the workloads among `objects`, each with its owner's name for people."""
    return [(str(ref_of(obj)), mapping(obj, "spec", "template")) for obj in of_kind(objects, *WORKLOADS)]


def containers(objects: Iterable[Object]) -> list[tuple[str, Object]]:
    return [
        (f"{owner}, container {text(container, 'name')}", container)
        for owner, template in pod_templates(objects)
        for field in ("initContainers", "containers")
        for container in mappings(template, "spec", field)
    ]


def runtime_containers(objects: Iterable[Object]) -> list[tuple[str, Object]]:
    """Return the containers of runtimes, wherever they stand in them: jobs and models are made of those."""
    return [
        (f"{ref_of(obj)}, container {text(container, 'name')}", container)
        for obj in objects
        if text(obj, "kind").endswith("Runtime")
        for container in _containers_within(obj)
    ]


def _containers_within(value: object) -> Iterator[Object]:
    if isinstance(value, Mapping):
        yield from mappings(value, "containers")
        for inner in value.values():
            yield from _containers_within(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _containers_within(inner)


# Images


def images(objects: Iterable[Object]) -> set[str]:
    """Return every image that `objects` name: in fields, arguments, variables, and in configuration's text."""
    return {image for obj in objects for image in _images_of(obj)}


@once_an_object
def _images_of(obj: Object) -> frozenset[str]:
    return frozenset(str(found.reference) for found in find([obj]))


def floating_images(objects: Iterable[Object]) -> list[str]:
    """A tag that upstream moves is not a pin."""
    floating = {"", "latest", "main", "master", "nightly", "snapshot", "dev", "edge"}
    return sorted(image for image in images(objects) if _tag(image) in floating)


def undeclared_images(objects: Iterable[Object], declared: Collection[str]) -> list[str]:
    """What is built, bundled and mirrored is read from component.yaml: an image it lacks is missing there."""
    return sorted(images(objects) - set(declared))


def images_without_build(objects: Iterable[Object], built: Collection[str]) -> list[str]:
    """Nothing is pulled on the embedded target, so what pods run must be built there."""
    fields = {image for obj in objects for image in _fields(obj)}
    return sorted(fields - set(built))


def _fields(value: object) -> Iterable[str]:
    """Return the images of containers alone: what pods really run, now or from a runtime."""
    if isinstance(value, Mapping):
        if text(value, "kind") == "CustomResourceDefinition":
            return
        if isinstance(value.get("image"), str) and "name" in value:
            yield text(value, "image")
        for inner in value.values():
            yield from _fields(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _fields(inner)


def always_pulled(objects: Iterable[Object]) -> list[str]:
    """With a fixed tag, pulling at every start only makes a registry a part of the running platform."""
    return [where for where, container in containers(objects) if text(container, "imagePullPolicy") == "Always"]


def _tag(image: str) -> str:
    name, _, tag = image.rpartition(":")
    return tag if name and "/" not in tag else ""


# Requests


def unbounded_containers(objects: Iterable[Object]) -> list[str]:
    """A container without a request is invisible to the scheduler and to the team's quota."""
    return [
        f"{where} has no {kind} for {resource}"
        for where, container in containers(objects)
        for kind, resource in (("requests", "cpu"), ("requests", "memory"), ("limits", "memory"))
        if parse(dig(container, "resources", kind, resource)) is None
    ]


def runtimes_without_requests(objects: Iterable[Object]) -> list[str]:
    """Jobs and models are made of runtimes; what these leave open is for a namespace's LimitRange to say."""
    return [
        f"{where} has no requests for {resource}"
        for where, container in runtime_containers(objects)
        for resource in ("cpu", "memory")
        if parse(dig(container, "resources", "requests", resource)) is None
    ]


def requested_cpu(objects: Iterable[Object]) -> Decimal:
    """Return the CPUs that the workloads among `objects` ask for together."""
    total = Decimal(0)
    for obj in of_kind(objects, *WORKLOADS):
        one = sum(
            (parse(dig(container, "resources", "requests", "cpu")) or Decimal(0))
            for container in mappings(obj, "spec", "template", "spec", "containers")
        )
        total += one * number(obj, "spec", "replicas", default=1)
    return total


# Services and webhooks


def services_without_pods(objects: Iterable[Object]) -> list[str]:
    """A Service's selector must match a pod template, and its target port a port that a container names or opens."""
    objects = list(objects)
    faults = []
    for service in of_kind(objects, "Service"):
        matching = [template for template in _templates_in(objects, service) if _selects(service, template)]
        if not matching:
            faults.append(f"{ref_of(service)} selects no pod")
        faults += [
            f"{ref_of(service)}: no container has port {port}" for port in _named_ports(service) - _ports_of(matching)
        ]
    return faults


def _templates_in(objects: Iterable[Object], service: Object) -> list[Object]:
    namespace = text(service, "metadata", "namespace")
    return [
        mapping(obj, "spec", "template")
        for obj in of_kind(objects, *WORKLOADS)
        if text(obj, "metadata", "namespace") == namespace
    ]


def _selects(service: Object, template: Object) -> bool:
    wanted = strings(service, "spec", "selector")
    return bool(wanted) and wanted.items() <= labels_of(template).items()


def _named_ports(service: Object) -> set[str]:
    return {port for item in mappings(service, "spec", "ports") if (port := text(item, "targetPort"))}


def _ports_of(templates: Iterable[Object]) -> set[str]:
    return {
        text(port, "name")
        for template in templates
        for container in mappings(template, "spec", "containers")
        for port in mappings(container, "ports")
    }


def webhook_callers(objects: Iterable[Object]) -> list[tuple[Object, Object]]:
    """Return what the API server calls: (the object that says so, the Service it names)."""
    found = []
    for obj in objects:
        clients = [mapping(hook, "clientConfig", "service") for hook in mappings(obj, "webhooks")]
        if text(obj, "spec", "conversion", "strategy") == "Webhook":
            clients.append(mapping(obj, "spec", "conversion", "webhook", "clientConfig", "service"))
        if text(obj, "kind") == "APIService":
            clients.append(mapping(obj, "spec", "service"))
        found += [(obj, client) for client in clients]
    return found


def calls_without_service(objects: Iterable[Object]) -> list[str]:
    objects = list(objects)
    ports = {
        (text(s, "metadata", "namespace"), text(s, "metadata", "name"), number(port, "port"))
        for s in of_kind(objects, "Service")
        for port in mappings(s, "spec", "ports")
    }
    faults = []
    for caller, client in webhook_callers(objects):
        wanted = (text(client, "namespace"), text(client, "name"), number(client, "port", default=443))
        if wanted not in ports:
            faults.append(f"{ref_of(caller)} calls {'/'.join(wanted[:2])}:{wanted[2]}, which no Service offers")
    return faults


# Certificates


def calls_without_trust(objects: Iterable[Object]) -> list[str]:
    """What the API server calls must be trusted by a certificate of ours that is made out to that very Service."""
    objects = list(objects)
    names = {_key(c): set(map(str, sequence(c, "spec", "dnsNames"))) for c in of_kind(objects, "Certificate")}
    faults = []
    for caller, client in webhook_callers(objects):
        if dig(caller, "spec", "insecureSkipTLSVerify"):
            faults.append(f"{ref_of(caller)} trusts whatever answers")
        source = annotations_of(caller).get(INJECT, "")
        host = f"{text(client, 'name')}.{text(client, 'namespace')}.svc"
        if source not in names:
            faults.append(f"{ref_of(caller)} has its CA from {source or 'nowhere'}, which is no Certificate here")
        elif host not in names[source]:
            faults.append(f"{ref_of(caller)} calls {host}, for which Certificate {source} is not made out")
    return faults


def other_authorities(objects: Iterable[Object]) -> list[str]:
    """There is one source of certificates: its renewals leave every injected CA as it is."""
    objects = list(objects)
    faults = [f"{ref_of(issuer)} is an authority of its own" for issuer in of_kind(objects, "Issuer")]
    for certificate in of_kind(objects, "Certificate"):
        issuer = mapping(certificate, "spec", "issuerRef")
        if (text(issuer, "kind"), text(issuer, "name")) != ("ClusterIssuer", AUTHORITY):
            faults.append(f"{ref_of(certificate)} is signed by {text(issuer, 'kind')} {text(issuer, 'name')}")
    return faults


def secrets_of_nobody(objects: Iterable[Object]) -> list[str]:
    """A pod that mounts a Secret which neither a Certificate nor a manifest makes never starts."""
    objects = list(objects)
    made = {(text(s, "metadata", "namespace"), text(s, "metadata", "name")) for s in of_kind(objects, "Secret")}
    made |= {(text(c, "metadata", "namespace"), text(c, "spec", "secretName")) for c in of_kind(objects, "Certificate")}
    faults = []
    for obj in of_kind(objects, *WORKLOADS):
        for volume in mappings(obj, "spec", "template", "spec", "volumes"):
            name = text(volume, "secret", "secretName")
            if name and (text(obj, "metadata", "namespace"), name) not in made:
                faults.append(f"{ref_of(obj)} mounts Secret {name}, which nobody makes")
    return faults


def settings_of_nobody(objects: Iterable[Object]) -> list[str]:
    """A pod that mounts a ConfigMap which no manifest makes never starts."""
    objects = list(objects)
    made = {_key(config) for config in of_kind(objects, "ConfigMap")}
    faults = []
    for obj in of_kind(objects, *WORKLOADS):
        for volume in mappings(obj, "spec", "template", "spec", "volumes"):
            name = text(volume, "configMap", "name")
            if name and f"{text(obj, 'metadata', 'namespace')}/{name}" not in made:
                faults.append(f"{ref_of(obj)} mounts ConfigMap {name}, which nobody makes")
    return faults


def _key(obj: Object) -> str:
    return f"{text(obj, 'metadata', 'namespace')}/{text(obj, 'metadata', 'name')}"


# Objects


def owned_twice(components: Mapping[str, Iterable[Object]]) -> list[str]:
    """Two components that own one object undo each other's changes, and prune each other's object."""
    owners: dict[str, list[str]] = {}
    for name, objects in components.items():
        for obj in objects:
            owners.setdefault(str(ref_of(obj)), []).append(name)
    return sorted(f"{ref} is owned by {', '.join(names)}" for ref, names in owners.items() if len(names) > 1)


def repeated_ports(objects: Iterable[Object]) -> list[str]:
    """Server-side apply refuses a list of ports with the same key twice."""
    faults = []
    for where, container in containers(objects):
        keys = Counter((number(p, "containerPort"), text(p, "protocol") or "TCP") for p in mappings(container, "ports"))
        faults += [f"{where} opens {port}/{protocol} twice" for (port, protocol), n in keys.items() if n > 1]
    return faults


def without_namespace(objects: Iterable[Object]) -> list[str]:
    """An object that lives in a namespace must name it: charts leave that to `helm install`, which nobody runs here."""
    return [
        f"{ref_of(obj)} names no namespace: set `namespace` in the kustomization"
        for obj in objects
        if text(obj, "kind") in _IN_A_NAMESPACE and not text(obj, "metadata", "namespace")
    ]


def homeless(objects: Iterable[Object], others: Collection[str] = ()) -> list[str]:
    """A namespaced object's namespace must be the component's own, one of the `others`, or one that every cluster has.

    `others` are there before it: those of components that it requires, and of the platform.
    """
    objects = list(objects)
    there = {text(ns, "metadata", "name") for ns in of_kind(objects, "Namespace")} | set(others)
    there |= {"kube-system", "kube-node-lease", ""}
    return [
        f"{ref_of(obj)} is in a namespace that neither the component nor one that it requires makes"
        for obj in objects
        if text(obj, "metadata", "namespace") not in there
    ]


def unmarked_namespaces(objects: Iterable[Object]) -> list[str]:
    """The alert rules know the platform's own namespaces by their label."""
    objects = list(objects)
    running = {text(obj, "metadata", "namespace") for obj in of_kind(objects, *WORKLOADS)}
    return [
        f"{ref_of(ns)} has no label {PLATFORM_LABEL}"
        for ns in of_kind(objects, "Namespace")
        if text(ns, "metadata", "name") in running and labels_of(ns).get(PLATFORM_LABEL) != "true"
    ]


def hooks_beyond_managed_namespaces(objects: Iterable[Object]) -> list[str]:
    """A component that is down must not refuse what is not its own: only in namespaces that opt in may it.

    Its own are the kinds whose CRDs it brings; a webhook with failurePolicy Ignore refuses nothing.
    """
    objects = list(objects)
    own = {tuple(name.split(".", 1)) for name in crds(objects)}
    return [
        f"{ref_of(obj)}, webhook {text(hook, 'name')}, refuses others' {', '.join(sorted(foreign))} in all namespaces"
        for obj in of_kind(objects, "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
        for hook in mappings(obj, "webhooks")
        if (foreign := _foreign_kinds(hook, own)) and text(hook, "failurePolicy") != "Ignore"
        if not MANAGED.items() <= strings(hook, "namespaceSelector", "matchLabels").items()
    ]


def api_services(objects: Iterable[Object], excused: Mapping[str, str]) -> list[str]:
    """No namespace of the cluster is finalized while one does not answer. `excused`: API group -> who needs it."""
    return [
        f"{ref_of(obj)} keeps namespaces from being finalized while it is down"
        for obj in of_kind(objects, "APIService")
        if dig(obj, "spec", "service") and text(obj, "spec", "group") not in excused
    ]


def _foreign_kinds(hook: Object, own: Collection[tuple[str, ...]]) -> set[str]:
    """Return which resources a webhook's rules take that are not among `own`: pairs of (resource, API group)."""
    groups = {group for _, group in own}
    return {
        f"{resource}.{group}"
        for rule in mappings(hook, "rules")
        for group in map(str, sequence(rule, "apiGroups"))
        for resource in (str(each).split("/")[0] for each in sequence(rule, "resources"))
        if (group not in groups if resource == "*" else (resource, group) not in own)
    }


def without_replicas(objects: Iterable[Object]) -> list[str]:
    """A field that no manifest names is nobody's: a controller scaled to zero would stay there at every install."""
    return [
        f"{ref_of(obj)} names no replicas"
        for obj in of_kind(objects, "Deployment", "StatefulSet")
        if not isinstance(dig(obj, "spec", "replicas"), int)
    ]


def crds(objects: Iterable[Object]) -> set[str]:
    return {text(crd, "metadata", "name") for crd in of_kind(objects, "CustomResourceDefinition")}


def kinds_of_nobody(objects: Iterable[Object], groups: Collection[str]) -> list[str]:
    """An object of a kind whose CRD is in no required component cannot be applied."""
    known = BUILT_IN | set(groups)
    return [f"{ref_of(obj)} is of API group {ref_of(obj).group}" for obj in objects if ref_of(obj).group not in known]


def moving_certificates(objects: Iterable[Object]) -> list[str]:
    """A certificate that is renewed so late that a night's outage lets it run out is no renewal."""
    faults = []
    for certificate in of_kind(objects, "Certificate"):
        left = _hours(text(certificate, "spec", "renewBefore"))
        if left < 7 * 24 or left >= _hours(text(certificate, "spec", "duration")):
            faults.append(f"{ref_of(certificate)} is renewed {left} h before its end")
    return faults


def _hours(duration: str) -> int:
    match = re.fullmatch(r"(\d+)h", duration)
    return int(match[1]) if match else 0
