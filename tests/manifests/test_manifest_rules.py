"""Each rule finds the fault that it is for, and passes over the sound form of the same object."""

from __future__ import annotations

import copy

import manifest_rules as rules
import pytest
import yaml
from breaking import Rules, broken, put

from modelyard.objects import Object
from modelyard.quantity import parse

SOUND = """
apiVersion: v1
kind: Namespace
metadata: {name: ops, labels: {modelyard.dev/platform: "true"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: ops}
data:
  runner: |-
    {"image": "quay.io/x/runner:v1",
     "more": true}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: hook, namespace: ops}
spec:
  secretName: hook-cert
  dnsNames: [hook.ops.svc]
  duration: 2160h
  renewBefore: 720h
  issuerRef: {kind: ClusterIssuer, name: modelyard-ca}
---
apiVersion: v1
kind: Service
metadata: {name: hook, namespace: ops}
spec: {selector: {app: op}, ports: [{port: 443, targetPort: web}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: op, namespace: ops}
spec:
  replicas: 1
  template:
    metadata: {labels: {app: op, tier: a}}
    spec:
      containers:
      - name: op
        image: quay.io/x/op:v1
        args: ["--helper=quay.io/x/helper:v1"]
        env: [{name: SIDECAR, value: "quay.io/x/sidecar:v1"}]
        ports: [{containerPort: 9443, name: web}]
        resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
      volumes: [{name: cert, secret: {secretName: hook-cert}}, {name: settings, configMap: {name: settings}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: v, annotations: {cert-manager.io/inject-ca-from: ops/hook}}
webhooks:
- name: v.x
  failurePolicy: Fail
  clientConfig: {service: {name: hook, namespace: ops}}
  namespaceSelector: {matchLabels: {modelyard.dev/managed: "true"}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
- name: things.x
  failurePolicy: Fail
  clientConfig: {service: {name: hook, namespace: ops}}
  rules:
  - {apiGroups: [x.dev], apiVersions: [v1], operations: [CREATE], resources: [things, things/status]}
  - {apiGroups: [x.dev], apiVersions: [v1], operations: [CREATE], resources: ["*/*"]}
- name: heard.x
  failurePolicy: Ignore
  clientConfig: {service: {name: hook, namespace: ops}}
  rules: [{apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [jobs]}]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.x, annotations: {cert-manager.io/inject-ca-from: ops/hook}}
spec: {group: x, service: {name: hook, namespace: ops}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.x.dev, annotations: {cert-manager.io/inject-ca-from: ops/hook}}
spec:
  group: x.dev
  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: hook, namespace: ops}}}}
---
apiVersion: x.dev/v1
kind: Thing
metadata: {name: t}
---
apiVersion: x.dev/v1
kind: ClusterTrainingRuntime
metadata: {name: torch}
spec:
  template:
    jobs:
    - spec: {containers: [{name: node, resources: {requests: {cpu: 100m, memory: 64Mi}}}]}
"""
IMAGES = {f"quay.io/x/{name}:v1" for name in ("op", "helper", "sidecar", "runner")}

RULES: Rules = {
    "floating": rules.floating_images,
    "undeclared": lambda objects: rules.undeclared_images(objects, IMAGES),
    "built": lambda objects: rules.images_without_build(objects, {"quay.io/x/op:v1"}),
    "pulled": rules.always_pulled,
    "requests": rules.unbounded_containers,
    "runtimes": rules.runtimes_without_requests,
    "services": rules.services_without_pods,
    "calls": rules.calls_without_service,
    "trust": rules.calls_without_trust,
    "authority": rules.other_authorities,
    "renewal": rules.moving_certificates,
    "secrets": rules.secrets_of_nobody,
    "settings": rules.settings_of_nobody,
    "ports": rules.repeated_ports,
    "namespaces": rules.homeless,
    "homes": rules.without_namespace,
    "marks": rules.unmarked_namespaces,
    "others": rules.hooks_beyond_managed_namespaces,
    "replicas": rules.without_replicas,
    "api": lambda objects: rules.api_services(objects, {"x": "its users"}),
    "kinds": lambda objects: rules.kinds_of_nobody(objects, {"x.dev", "cert-manager.io"}),
    "owners": lambda objects: rules.owned_twice({"one": objects[:4], "two": objects[4:]}),
}

# (rule, what is broken: path into SOUND's objects by kind, the broken value)
BREAKS: list[tuple[str, str, str, object]] = [
    ("runtimes", "ClusterTrainingRuntime", "spec/template/jobs/0/spec/containers/0/resources/requests", {"cpu": 1}),
    ("floating", "Deployment", "spec/template/spec/containers/0/image", "quay.io/x/op:latest"),
    ("floating", "Deployment", "spec/template/spec/containers/0/image", "quay.io/x/op"),
    ("floating", "Deployment", "spec/template/spec/containers/0/args/0", "--helper=quay.io/x/helper:main"),
    ("floating", "ConfigMap", "data/runner", '{"image": "quay.io/x/runner",\n "more": true}'),
    ("undeclared", "Deployment", "spec/template/spec/containers/0/image", "quay.io/x/op:v2"),
    ("undeclared", "Deployment", "spec/template/spec/containers/0/args/0", "--helper=quay.io/x/other:v1"),
    ("undeclared", "Deployment", "spec/template/spec/containers/0/env/0/value", "quay.io/x/other:v1"),
    ("undeclared", "ConfigMap", "data/runner", '{"runnerImage": "quay.io/x/other:v1",\n "more": true}'),
    ("undeclared", "ConfigMap", "data/runner", "runner:\n  image: quay.io/x/other:v1\n"),
    ("undeclared", "Thing", "spec", {"containers": [{"name": "c", "image": "quay.io/x/other:v1"}]}),
    ("built", "Thing", "spec", {"containers": [{"name": "c", "image": "quay.io/x/other:v1"}]}),
    ("pulled", "Deployment", "spec/template/spec/containers/0/imagePullPolicy", "Always"),
    ("requests", "Deployment", "spec/template/spec/containers/0/resources/requests", {"cpu": "100m"}),
    ("requests", "Deployment", "spec/template/spec/containers/0/resources/limits", {}),
    ("requests", "Deployment", "spec/template/spec/initContainers", [{"name": "init", "image": "quay.io/x/op:v1"}]),
    ("services", "Service", "spec/selector", {"app": "operator"}),
    ("services", "Service", "spec/selector", {}),
    ("services", "Service", "spec/ports/0/targetPort", "https"),
    ("services", "Deployment", "metadata/namespace", "elsewhere"),
    ("calls", "ValidatingWebhookConfiguration", "webhooks/0/clientConfig/service/name", "other"),
    ("calls", "APIService", "spec/service/namespace", "elsewhere"),
    ("calls", "CustomResourceDefinition", "spec/conversion/webhook/clientConfig/service/port", 8443),
    ("trust", "APIService", "spec/insecureSkipTLSVerify", True),
    ("trust", "ValidatingWebhookConfiguration", "metadata/annotations", {}),
    ("trust", "CustomResourceDefinition", "metadata/annotations", {rules.INJECT: "ops/other"}),
    ("trust", "Certificate", "spec/dnsNames", ["hook.other.svc"]),
    ("authority", "Certificate", "spec/issuerRef", {"kind": "Issuer", "name": "modelyard-ca"}),
    ("authority", "Thing", "kind", "Issuer"),
    ("renewal", "Certificate", "spec/renewBefore", "24h"),
    ("renewal", "Certificate", "spec/duration", "700h"),
    ("secrets", "Certificate", "spec/secretName", "other"),
    ("secrets", "Certificate", "metadata/namespace", "elsewhere"),
    ("settings", "ConfigMap", "metadata/name", "other"),
    ("ports", "Deployment", "spec/template/spec/containers/0/ports", [{"containerPort": 1}, {"containerPort": 1}]),
    ("namespaces", "ConfigMap", "metadata/namespace", "elsewhere"),
    ("homes", "Deployment", "metadata/namespace", None),
    ("homes", "Service", "metadata/namespace", ""),
    ("marks", "Namespace", "metadata/labels", {}),
    ("others", "ValidatingWebhookConfiguration", "webhooks/0/namespaceSelector", {}),
    ("others", "ValidatingWebhookConfiguration", "webhooks/0/namespaceSelector/matchLabels", {"a": "b"}),
    ("others", "ValidatingWebhookConfiguration", "webhooks/1/rules/0/resources/0", "thongs"),
    ("others", "ValidatingWebhookConfiguration", "webhooks/1/rules/0/apiGroups/0", "y.dev"),
    ("others", "ValidatingWebhookConfiguration", "webhooks/1/rules/1/apiGroups/0", "*"),
    ("others", "ValidatingWebhookConfiguration", "webhooks/2/failurePolicy", "Fail"),
    ("replicas", "Deployment", "spec/replicas", None),
    ("api", "APIService", "spec/group", "y"),
    ("kinds", "Thing", "apiVersion", "y.dev/v1"),
]


@pytest.fixture
def sound() -> list[Object]:
    return list(yaml.safe_load_all(SOUND))


@pytest.mark.parametrize("rule", RULES)
def test_sound_objects_pass(rule: str, sound: list[Object]) -> None:
    assert RULES[rule](sound) == []


@pytest.mark.parametrize(("rule", "kind", "path", "value"), BREAKS)
def test_the_fault_is_found(rule: str, kind: str, path: str, value: object, sound: list[Object]) -> None:
    assert RULES[rule](broken(sound, kind, path, value)) != []


def test_an_object_with_two_owners_is_found(sound: list[Object]) -> None:
    assert rules.owned_twice({"one": sound[:4], "two": sound[3:]}) == ["Service ops/hook is owned by one, two"]


def test_each_rule_has_been_seen_to_fail() -> None:
    assert {rule for rule, *_ in BREAKS} | {"owners"} == set(RULES)


def test_the_sum_of_requests_counts_replicas_and_all_containers(sound: list[Object]) -> None:
    deployment = copy.deepcopy(next(obj for obj in sound if obj["kind"] == "Deployment"))
    put(deployment, "spec/replicas", 3)
    assert rules.requested_cpu([deployment]) == parse("300m")


def test_the_prose_of_a_crd_names_no_images() -> None:
    crd = {"kind": "CustomResourceDefinition", "spec": {"description": "quay.io/x/op:latest"}}
    assert rules.images([crd]) == set()
