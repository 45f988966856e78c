"""A namespace opts in by one label: for the platform's webhooks, for Kueue, and for what it may be asked for."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping

import manifest_rules as rules
import pytest
import yaml

from modelyard.catalog import load
from modelyard.cluster import Session, connect
from modelyard.local import ClusterInfo
from modelyard.objects import Object, labels_of, mapping, mappings, ref_of, sequence, strings, text
from modelyard.paths import data_root

Render = Callable[[str], Mapping[str, list[Object]]]
TARGETS = sorted(load(data_root()).targets)
QUEUE = {"kueue.x-k8s.io/queue-name": "default"}
POLICY = "kueue-managed-namespaces"
SECONDS = 30.0  # an API server takes a new policy into account within one or two
POD = {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}
UNLABELLED, LABELLED = "opt-in-unlabelled", "opt-in-labelled"


@pytest.mark.parametrize("target", TARGETS)
def test_kueue_manages_the_namespaces_that_its_webhooks_see(target: str, render: Render) -> None:
    selector = mapping(_kueues_configuration(render(target)["kueue"]), "managedJobsNamespaceSelector")
    assert selector == {"matchLabels": rules.MANAGED}


@pytest.mark.parametrize("target", TARGETS)
def test_the_teams_namespace_opts_in(target: str, render: Render) -> None:
    [namespace] = rules.of_kind(render(target)["tenancy"], "Namespace")
    assert rules.MANAGED.items() <= labels_of(namespace).items()


@pytest.mark.parametrize("target", TARGETS)
def test_policies_are_for_namespaces_that_did_not_opt_in(target: str, render: Render) -> None:
    [(key, value)] = rules.MANAGED.items()
    others = {"matchExpressions": [{"key": key, "operator": "NotIn", "values": [value]}]}
    found = {
        name: mapping(policy, "spec", "matchConstraints", "namespaceSelector")
        for name, objects in render(target).items()
        for policy in rules.of_kind(objects, "ValidatingAdmissionPolicy")
        if text(policy, "metadata", "name").endswith("-managed-namespaces")
    }
    assert found == dict.fromkeys(("jobset", "kserve", "kueue", "lws"), others)


def test_every_kind_that_kueue_queues_is_refused_where_it_does_not(render: Render) -> None:
    objects = render("local")["kueue"]
    refused = {
        (str(group), str(resource))
        for rule in mappings(_policy(objects), "spec", "matchConstraints", "resourceRules")
        for group in sequence(rule, "apiGroups")
        for resource in sequence(rule, "resources")
    }
    frameworks = sequence(_kueues_configuration(objects), "integrations", "frameworks")
    assert {_resource(str(framework)) for framework in frameworks} <= refused


# On a real API server


@pytest.fixture(scope="module")
def session(cluster: ClusterInfo, render: Render) -> Iterator[Session]:
    """A cluster with Kueue's policy and without Kueue, as if it were down."""
    session = connect(cluster.kubeconfig)
    policy = rules.of_kind(render("local")["kueue"], "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        for name, labels in ((UNLABELLED, {}), (LABELLED, rules.MANAGED))
    ]
    for obj in [*policy, *namespaces]:
        session.apply(obj)
    _wait_until_refused(session)
    yield session
    for obj in [*policy, *namespaces]:
        session.delete(ref_of(obj))


KINDS = [("v1", "Pod"), ("batch/v1", "Job"), ("apps/v1", "Deployment"), ("apps/v1", "StatefulSet")]


@pytest.mark.parametrize(("version", "kind"), KINDS)
def test_what_names_a_queue_is_refused_in_a_namespace_that_did_not_opt_in(
    version: str, kind: str, session: Session
) -> None:
    said = _try(session, _workload(version, kind, labels=QUEUE))
    assert "kubectl label namespace opt-in-unlabelled modelyard.dev/managed=true" in said
    assert "queue default" in said


@pytest.mark.parametrize(("version", "kind"), KINDS)
def test_nothing_else_is_refused(version: str, kind: str, session: Session) -> None:
    assert _try(session, _workload(version, kind)) == ""
    assert _try(session, _workload(version, kind, labels=QUEUE, namespace=LABELLED)) == ""


def test_a_pod_of_a_deployment_that_was_looked_at_is_not_refused(session: Session) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "w", "uid": "0", "controller": True}
    pod = _workload("v1", "Pod", labels=QUEUE)
    assert _try(session, _with(pod, ownerReferences=[owner])) == ""
    assert "modelyard.dev/managed=true" in _try(session, _with(pod, ownerReferences=[{**owner, "apiVersion": "a/v1"}]))


def test_what_had_its_queue_before_can_still_be_changed(session: Session) -> None:
    """Its namespace left later: nobody is kept from scaling it down, nor a controller from taking a finalizer off."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": UNLABELLED}}
    session.apply(_with(namespace, labels=rules.MANAGED))
    deployment = _workload("apps/v1", "Deployment", labels=QUEUE)
    try:
        _wait(lambda: _try(session, deployment) == "", "the namespace is seen to opt in")
        session.apply(deployment)
        session.apply(_with(namespace, labels={}))
        _wait_until_refused(session)
        assert _try(session, {**deployment, "spec": {**mapping(deployment, "spec"), "replicas": 0}}) == ""
    finally:
        session.apply(_with(namespace, labels={}))
        session.delete(ref_of(deployment))


def test_a_queue_cannot_be_named_later_either(session: Session) -> None:
    deployment = _workload("apps/v1", "Deployment")
    session.apply(deployment)
    try:
        assert "modelyard.dev/managed=true" in _try(session, _with(deployment, labels=QUEUE))
    finally:
        session.delete(ref_of(deployment))


def _wait_until_refused(session: Session) -> None:
    pod = _workload("v1", "Pod", labels=QUEUE)
    _wait(lambda: "modelyard.dev/managed=true" in _try(session, pod), "the policy is seen")


def _wait(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"{what}: not within {SECONDS:.0f} s"
        time.sleep(0.1)


def _try(session: Session, obj: Object) -> str:
    """Return why the API server refuses to have `obj` so; empty where it takes it. Nothing is kept."""
    ref = ref_of(obj)
    resource = session.discovery.find(ref.group_kind)
    assert resource is not None
    query = {"fieldManager": "modelyard", "force": "true", "dryRun": "All"}
    path = resource.path(ref.namespace, ref.name)
    kind = "application/apply-patch+yaml"
    answer = session.transport.send("PATCH", path, query=query, body=obj, content_type=kind)
    return "" if answer.code < 400 else text(json.loads(answer.body), "message")


def _workload(
    version: str, kind: str, *, labels: Mapping[str, str] | None = None, namespace: str = UNLABELLED
) -> Object:
    metadata = {"name": "w", "namespace": namespace, "labels": dict(labels or {})}
    if kind == "Pod":
        return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": POD}
    spec: dict[str, object] = {"template": {"metadata": {"labels": {"app": "w"}}, "spec": POD}}
    if kind == "Job":
        spec["template"] = {"spec": {**POD, "restartPolicy": "Never"}}
    else:
        spec |= {"replicas": 1, "selector": {"matchLabels": {"app": "w"}}}
    if kind == "StatefulSet":
        spec["serviceName"] = "w"
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _with(obj: Object, **metadata: object) -> Object:
    return {**obj, "metadata": {**mapping(obj, "metadata"), **metadata}}


def _kueues_configuration(objects: list[Object]) -> Object:
    [content] = [
        strings(config, "data")["controller_manager_config.yaml"]
        for config in rules.of_kind(objects, "ConfigMap")
        if "controller_manager_config.yaml" in strings(config, "data")
    ]
    loaded: Object = yaml.safe_load(content)
    return loaded


def _policy(objects: list[Object]) -> Object:
    policies = rules.of_kind(objects, "ValidatingAdmissionPolicy")
    [policy] = [each for each in policies if text(each, "metadata", "name") == POLICY]
    return policy


def _resource(framework: str) -> tuple[str, str]:
    """Return API group and resource of what Kueue's configuration calls `batch/job`, or `deployment`."""
    group, _, kind = framework.rpartition("/")
    groups = {"pod": "", "deployment": "apps", "statefulset": "apps"}
    return (group or groups[kind]), f"{kind}s"
