"""What a target asks of a cluster: each kind of test, both ways, and what an install needs."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from modelyard.catalog import Target
from modelyard.catalog.prerequisites import Prerequisite, PrerequisiteTest, command_of
from modelyard.objects import Object
from modelyard.plan.prerequisites import Evidence, Verdict, asked_for, judge, refusals

TESTS: TypeAdapter[PrerequisiteTest] = TypeAdapter(PrerequisiteTest)
DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}
READY = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1}
METERS = {"type": "ready", "group": "apps", "kind": "Deployment", "namespace": "kube-system", "name": "meters"}


def storage_class(name: str, **annotations: str) -> Object:
    return {"kind": "StorageClass", "metadata": {"name": name, "annotations": annotations}}


def node(labels: dict[str, str] | None = None, **allocatable: str) -> Object:
    return {"kind": "Node", "metadata": {"labels": labels or {}}, "status": {"allocatable": allocatable}}


def deployment(**status: Any) -> Object:
    about = {"name": "meters", "namespace": "kube-system", "generation": 1}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": about, "spec": {"replicas": 1}, "status": status}


@pytest.mark.parametrize(
    ("test", "evidence", "found"),
    [
        ({"type": "version", "minimum": "1.32"}, Evidence(version="v1.32.0-eks-1"), (True, "v1.32.0-eks-1")),
        ({"type": "version", "minimum": "1.9"}, Evidence(version="v1.32.0"), (True, "v1.32.0")),
        ({"type": "version", "minimum": "1.32"}, Evidence(version="v1.31.9+k3s1"), (False, "v1.31.9+k3s1")),
        ({"type": "version", "minimum": "1.32"}, Evidence(), (False, "no version")),
        ({"type": "api", "group": "a.test"}, Evidence(kinds={"X"}), (True, "a.test is served")),
        ({"type": "api", "group": "a.test"}, Evidence(), (False, "a.test is not served")),
        ({"type": "api", "group": "a.test", "kind": "X"}, Evidence(kinds={"X"}), (True, "X.a.test is served")),
        ({"type": "api", "group": "a.test", "kind": "X"}, Evidence(kinds={"Y"}), (False, "X.a.test is not served")),
        (METERS | {"type": "object"}, Evidence(objects=[deployment()]), (True, "is there")),
        (METERS | {"type": "object"}, Evidence(), (False, "Deployment kube-system/meters is not there")),
        (METERS | {"type": "no-object"}, Evidence(), (True, "is not there")),
        (METERS | {"type": "no-object"}, Evidence(objects=[deployment()]), (False, "is there")),
        (METERS, Evidence(objects=[deployment(**READY)]), (True, "meters: ready")),
        (METERS, Evidence(objects=[deployment()]), (False, "meters: ")),
        (METERS, Evidence(), (False, "is not there")),
        ({"type": "storage-class"}, Evidence(objects=[storage_class("a", **DEFAULT)]), (True, "a (default)")),
        ({"type": "storage-class"}, Evidence(objects=[storage_class("a")]), (False, "StorageClasses: a")),
        ({"type": "storage-class", "name": "b"}, Evidence(objects=[storage_class("b")]), (True, "b")),
        ({"type": "storage-class", "name": "b"}, Evidence(), (False, "no StorageClass")),
        ({"type": "node", "label": "l"}, Evidence(objects=[node({"l": "x"}), node()]), (True, "1 of 2 nodes")),
        ({"type": "node", "label": "l", "value": "y"}, Evidence(objects=[node({"l": "x"})]), (False, "label l=y")),
        ({"type": "node", "resource": "r"}, Evidence(objects=[node(r="2")]), (True, "1 of 1 nodes have r")),
        ({"type": "node", "resource": "r"}, Evidence(objects=[node(r="0"), node()]), (False, "0 of 2 nodes have r")),
    ],
)  # fmt: skip
def test_a_test_says_whether_it_is_there_and_what_was_found(
    test: dict[str, str], evidence: Evidence, found: tuple[bool, str]
) -> None:
    ok, said = judge(TESTS.validate_python(test), evidence)
    assert ok is found[0]
    assert found[1] in said


@pytest.mark.parametrize(
    ("test", "command"),
    [
        ({"type": "version", "minimum": "1.32"}, "kubectl version"),
        ({"type": "api", "group": "a.test"}, "kubectl api-resources --api-group=a.test"),
        (METERS, "kubectl get deployment.apps meters -n kube-system"),
        ({"type": "object", "kind": "Namespace", "name": "x"}, "kubectl get namespace x"),
        ({"type": "storage-class"}, "kubectl get storageclass"),
        ({"type": "node", "label": "l", "value": "x"}, "kubectl get nodes -l l=x"),
    ],
)
def test_a_test_gives_the_command_that_shows_the_same_to_people(test: dict[str, str], command: str) -> None:
    assert command_of(TESTS.validate_python(test)) == command


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "neither test nor check"),
        ({"check": "look", "refuses": True}, "refuses without a test"),
        ({"test": {"type": "node"}}, "takes a label"),
        ({"test": {"type": "node", "label": "a", "resource": "b"}}, "takes a label"),
        ({"test": {"type": "version", "minimum": "2"}}, "pattern"),
    ],
)
def test_a_prerequisite_that_nobody_could_check_is_refused(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Prerequisite.model_validate({"what": "x", "fix": "y"} | fields)


def target() -> Target:
    wanted = {"what": "x", "fix": "y", "check": "look"}
    asked = {"all": wanted, "gpus": wanted | {"components": ["gpu-operator"]}}
    return Target.model_validate({"name": "own", "summary": "x", "profiles": {"core": []}, "prerequisites": asked})


def test_what_a_component_asks_for_is_asked_for_with_it_alone() -> None:
    assert list(asked_for(target(), ["kueue"])) == ["all"]
    assert list(asked_for(target(), ["kueue", "gpu-operator"])) == ["all", "gpus"]


def test_what_a_component_of_the_same_install_brings_is_not_asked_for() -> None:
    brought = target().model_copy(
        update={"prerequisites": {"pool": Prerequisite(what="x", fix="y", check="look", providedBy=("karpenter-aws",))}}
    )
    assert list(asked_for(brought, ["gpu-nodes"])) == ["pool"]
    assert list(asked_for(brought, ["gpu-nodes", "karpenter-aws"])) == []


def test_only_what_is_seen_to_be_missing_and_refuses_ends_an_install() -> None:
    base = {"what": "x", "fix": "y", "test": {"type": "storage-class"}}
    hard, soft = Prerequisite.model_validate(base | {"refuses": True}), Prerequisite.model_validate(base)
    verdicts = [Verdict("a", soft, False, ""), Verdict("b", hard, True, ""), Verdict("c", hard, False, "")]
    assert [each.name for each in refusals(verdicts)] == ["c"]
