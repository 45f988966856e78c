"""Each rule of cluster_rules.py finds the fault that it is for, and passes over the sound form of the same object."""

from __future__ import annotations

import cluster_rules as rules
import pytest
import yaml
from breaking import Rules, broken, put

from modelyard.objects import Object

SOUND = """
apiVersion: v1
kind: Namespace
metadata: {name: ops, labels: {pod-security.kubernetes.io/enforce: restricted}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: op, namespace: ops}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: ops}
data: {address: "op.ops.svc:443"}
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: ops}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: hook, namespace: ops}
spec: {secretName: hook-cert}
---
apiVersion: v1
kind: Service
metadata: {name: op, namespace: ops}
spec: {type: ClusterIP}
---
apiVersion: v1
kind: Service
metadata: {name: inside, namespace: ops, annotations: {service.beta.kubernetes.io/aws-load-balancer-scheme: internal}}
spec: {type: LoadBalancer}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: ops}
spec: {storageClassName: fast}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: store, namespace: ops}
spec:
  template: {spec: {securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, containers: []}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: fast}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: op}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: op, namespace: ops}
roleRef: {kind: ClusterRole, name: op}
subjects: [{kind: ServiceAccount, name: op, namespace: ops}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: op, namespace: ops}
spec:
  template:
    spec:
      serviceAccountName: op
      priorityClassName: system-cluster-critical
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: op
        securityContext: &own {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        envFrom: [{configMapRef: {name: settings}}]
        env:
        - {name: KEY, valueFrom: {secretKeyRef: {name: key, key: k}}}
        - {name: MORE, valueFrom: {secretKeyRef: {name: perhaps, key: k, optional: true}}}
        readinessProbe: {httpGet: {path: /, port: 80}}
        resources: {requests: {cpu: 10m, memory: 8Mi}}
      - name: guard
        securityContext: *own
        resources: {requests: {cpu: 10m, memory: 8Mi}}
      volumes: [{name: cert, secret: {secretName: hook-cert}}, {name: settings, configMap: {name: settings}}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: tender, namespace: ops}
spec:
  template:
    spec:
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions:
              - {key: kubernetes.io/os, operator: In, values: [linux]}
              - {key: modelyard.dev/simulated, operator: DoesNotExist}
      containers:
      - name: tender
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        readinessProbe: {httpGet: {path: /, port: 80}}
        resources: {requests: {cpu: 10m, memory: 8Mi}}
---
apiVersion: x.dev/v1
kind: Runtime
metadata: {name: mpi}
spec: {securityContext: {runAsUser: 1000}}
"""
EXTERNAL = {"StorageClass": ["fast"]}

RULES: Rules = {
    "requests": rules.silent_containers,
    "probes": lambda objects: rules.unprobed_containers(objects, {"guard": "guards"}),
    "levels": lambda objects: rules.open_namespaces(objects, {}),
    "pods": rules.refused_pods,
    "access": lambda objects: rules.unlimited_access(objects, {}),
    "domain": rules.domain_in_names,
    "published": rules.published_services,
    "daemons": rules.daemons_on_simulated_nodes,
    "names": lambda objects: rules.names_of_nobody(objects, EXTERNAL),
    "users": lambda objects: rules.fixed_users(objects, {"Runtime mpi": "sshd"}),
    "grants": rules.security_grants,
}

POD = "spec/template/spec"
TERMS = f"{POD}/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms"
ABSENT = {"key": rules.SIMULATED, "operator": "DoesNotExist"}
LINUX = {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}
# (rule, what is broken: path into SOUND's objects by kind, the broken value)
BREAKS: list[tuple[str, str, str, object]] = [
    ("requests", "Deployment", f"{POD}/containers/0/resources/requests", {"cpu": "1"}),
    ("requests", "Deployment", f"{POD}/containers/1/resources", {}),
    ("requests", "Deployment", f"{POD}/initContainers", [{"name": "init"}]),
    ("probes", "Deployment", f"{POD}/containers/0/readinessProbe", None),
    ("probes", "Deployment", f"{POD}/containers/1/name", "other"),
    ("levels", "Namespace", "metadata/labels", {}),
    ("levels", "Namespace", "metadata/labels", {rules.LEVEL: "privileged"}),
    ("pods", "Deployment", f"{POD}/securityContext/runAsNonRoot", False),
    ("pods", "Deployment", f"{POD}/securityContext/seccompProfile", {"type": "Unconfined"}),
    ("pods", "Deployment", f"{POD}/containers/0/securityContext/capabilities", {"drop": ["NET_RAW"]}),
    ("pods", "Deployment", f"{POD}/containers/1/securityContext", {"capabilities": {"drop": ["ALL"]}}),
    ("pods", "Deployment", f"{POD}/volumes", [{"name": "v", "hostPath": {"path": "/"}}]),
    ("pods", "Deployment", f"{POD}/initContainers", [{"name": "init"}]),
    ("access", "ClusterRole", "rules/0/verbs", ["*"]),
    ("access", "ClusterRole", "rules/0/resources", ["pods", "*"]),
    ("access", "RoleBinding", "roleRef/name", "cluster-admin"),
    ("domain", "ConfigMap", "data/address", "first: a\nsecond: op.ops.svc.cluster.local:443"),
    ("domain", "Certificate", "spec/dnsNames", ["hook.ops.svc.example.org"]),
    ("published", "Service", "spec/type", "LoadBalancer"),
    ("published", "Service", "spec/type", "NodePort"),
    ("daemons", "DaemonSet", f"{POD}/affinity", {}),
    ("daemons", "DaemonSet", f"{TERMS}/0/matchExpressions", [LINUX]),
    ("daemons", "DaemonSet", f"{TERMS}/0/matchExpressions/1/operator", "Exists"),
    ("daemons", "DaemonSet", TERMS, [{"matchExpressions": [ABSENT]}, {"matchExpressions": [LINUX]}]),
    ("names", "ServiceAccount", "metadata/name", "other"),
    ("names", "ServiceAccount", "metadata/namespace", "other"),
    ("names", "Deployment", f"{POD}/serviceAccountName", "other"),
    ("names", "ConfigMap", "metadata/name", "other"),
    ("names", "Secret", "metadata/name", "other"),
    ("names", "Certificate", "spec/secretName", "other"),
    ("names", "Deployment", f"{POD}/priorityClassName", "other"),
    ("names", "PersistentVolumeClaim", "spec/storageClassName", "other"),
    ("names", "StatefulSet", "spec/volumeClaimTemplates/0/spec/storageClassName", "other"),
    ("names", "ClusterRole", "metadata/name", "other"),
    ("names", "RoleBinding", "roleRef/kind", "Role"),
    ("users", "Deployment", f"{POD}/securityContext/runAsUser", 1000),
    ("users", "Deployment", f"{POD}/securityContext/fsGroup", 1000),
    ("users", "Runtime", "metadata/name", "other"),
    ("grants", "RoleBinding", "roleRef/name", "system:openshift:scc:anyuid"),
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


def test_an_excused_namespace_passes_only_where_it_says_so(sound: list[Object]) -> None:
    [namespace] = [obj for obj in sound if obj["kind"] == "Namespace"]
    put(namespace, "metadata/labels", {rules.LEVEL: "privileged"})
    assert rules.open_namespaces(sound, {"ops": "its pods read the node"}) == []
    put(namespace, "metadata/labels", {})
    assert rules.open_namespaces(sound, {"ops": "its pods read the node"}) != []


def test_an_excused_role_passes(sound: list[Object]) -> None:
    put(next(obj for obj in sound if obj["kind"] == "ClusterRole"), "rules/0/verbs", ["*"])
    assert rules.unlimited_access(sound, {"ClusterRole op": "it garbage-collects"}) == []


def test_a_load_balancer_of_the_internet_is_found(sound: list[Object]) -> None:
    [inside] = [obj for obj in sound if obj["metadata"]["name"] == "inside"]
    put(inside, "metadata/annotations", {"service.beta.kubernetes.io/aws-load-balancer-scheme": "internet-facing"})
    assert rules.published_services(sound) == ["Service ops/inside is a LoadBalancer"]


def test_each_rule_has_been_seen_to_fail() -> None:
    assert {rule for rule, *_ in BREAKS} == set(RULES)
    assert all(
        rule.__doc__
        for rule in vars(rules).values()
        if callable(rule) and rule.__module__ == rules.__name__ and not rule.__name__.startswith("_")
    )
