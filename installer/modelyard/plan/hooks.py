"""Webhooks: what calls where, what it would hold up, and with which request it can be tried. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from modelyard.objects import Object, annotations_of, mapping, mappings, number, ref_of, sequence, text
from modelyard.objects import ObjectRef as Ref
from modelyard.plan import kinds
from modelyard.plan.selectors import is_narrow

# Annotations by which cert-manager's injector is told to fill a caBundle in.
INJECTED = (
    "cert-manager.io/inject-ca-from",
    "cert-manager.io/inject-ca-from-secret",
    "cert-manager.io/inject-apiserver-ca",
)
# Without these no component comes up; a webhook in their way stops everybody.
_VITAL = {
    "": {"pods", "services", "secrets", "configmaps", "serviceaccounts", "namespaces"},
    "apps": {"deployments", "replicasets", "statefulsets", "daemonsets"},
    "batch": {"jobs"},
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a webhook is called: a Service, or a URL; and the CA that must have signed it."""

    namespace: str
    service: str
    port: int
    url: str
    ca_bundle: str

    def __str__(self) -> str:
        return self.url or f"Service {self.namespace}/{self.service}:{self.port}"


@dataclass(frozen=True, slots=True)
class Rule:
    """Which requests a webhook intercepts."""

    groups: tuple[str, ...]
    versions: tuple[str, ...]
    resources: tuple[str, ...]
    operations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hook:
    """One webhook of a configuration, or a CRD's conversion.

    Args:
        owner: the configuration or the CRD.
        name: the webhook's name in it; a CRD's name for a conversion.
        endpoint: where it is called.
        path: the request path there.
        mutating: called before an object is validated.
        conversion: a CRD's conversion, which has no rules.
        fails_closed: what it intercepts is refused while it does not answer.
        injected: its CA is filled in by another component, so the workload needs no configuration.
        conditional: it has conditions of its own (CEL), so a matching request need not reach it.
        dry_run: it may be called for a dry run.
        rules: what it intercepts.
        object_selector: labels of the objects that it intercepts.
        namespace_selector: labels of their namespaces.
    """

    owner: Ref
    name: str
    endpoint: Endpoint
    path: str
    mutating: bool = False
    conversion: bool = False
    fails_closed: bool = True
    injected: bool = False
    conditional: bool = False
    dry_run: bool = True
    rules: tuple[Rule, ...] = ()
    object_selector: Object | None = None
    namespace_selector: Object | None = None

    def __str__(self) -> str:
        return f"{self.owner}, webhook {self.name}"


def hooks(objects: Iterable[Object]) -> tuple[Hook, ...]:
    """Return the webhooks that the configurations and CRDs among `objects` name."""
    found: list[Hook] = []
    for obj in objects:
        kind = ref_of(obj).group_kind
        if kind in kinds.WEBHOOK_CONFIGURATIONS:
            found.extend(_admission(obj, hook) for hook in mappings(obj, "webhooks"))
        elif kind == kinds.CRD and text(obj, "spec", "conversion", "strategy") == "Webhook":
            found.append(_conversion(obj))
    return tuple(found)


def holds_up_others(hook: Hook) -> bool:
    """Tell whether other components' objects wait, or are refused, while `hook` does not answer."""
    if hook.conversion or not hook.fails_closed or is_narrow(hook.object_selector or {}):
        return False
    if is_narrow(hook.namespace_selector or {}):
        return False
    return any(_vital(rule) for rule in hook.rules)


def _vital(rule: Rule) -> bool:
    if not {"CREATE", "UPDATE", "*"} & set(rule.operations):
        return False
    for group, names in _VITAL.items():
        if group in rule.groups or "*" in rule.groups:
            plain = {name.split("/", 1)[0] for name in rule.resources if "/" not in name or name == "*/*"}
            if plain & names or "*" in plain:
                return True
    return False


def _admission(owner: Object, hook: Object) -> Hook:
    client = mapping(hook, "clientConfig")
    return Hook(
        owner=ref_of(owner),
        name=text(hook, "name"),
        endpoint=_endpoint(client),
        path=text(client, "service", "path"),
        mutating=ref_of(owner).group_kind == kinds.MUTATING,
        fails_closed=text(hook, "failurePolicy") != "Ignore",
        injected=_injected(owner),
        conditional=bool(sequence(hook, "matchConditions")),
        dry_run=text(hook, "sideEffects") in ("None", "NoneOnDryRun"),
        rules=tuple(_rule(rule) for rule in mappings(hook, "rules")),
        object_selector=mapping(hook, "objectSelector"),
        namespace_selector=mapping(hook, "namespaceSelector"),
    )


def _conversion(crd: Object) -> Hook:
    client = mapping(crd, "spec", "conversion", "webhook", "clientConfig")
    return Hook(
        owner=ref_of(crd),
        name="conversion",
        endpoint=_endpoint(client),
        path=text(client, "service", "path"),
        conversion=True,
        injected=_injected(crd),
    )


def _endpoint(client: Object) -> Endpoint:
    return Endpoint(
        namespace=text(client, "service", "namespace"),
        service=text(client, "service", "name"),
        port=number(client, "service", "port", default=443),
        url=text(client, "url"),
        ca_bundle=text(client, "caBundle"),
    )


def _rule(rule: Object) -> Rule:
    def words(key: str) -> tuple[str, ...]:
        return tuple(str(word) for word in sequence(rule, key))

    return Rule(words("apiGroups"), words("apiVersions"), words("resources"), words("operations"))


def _injected(owner: Object) -> bool:
    return any(key in annotations_of(owner) for key in INJECTED)
