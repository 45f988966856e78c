"""Waves: nothing lost, nothing doubled, one order, and what needs something comes after it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from modelyard.objects import ObjectRef, ref_of
from modelyard.plan.removal import Step, steps
from modelyard.plan.waves import Stage, defined_kinds, waves

KINDS = [
    ("v1", "Namespace"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "Service"),
    ("v1", "PersistentVolumeClaim"),
    ("apps/v1", "Deployment"),
    ("batch/v1", "Job"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apiregistration.k8s.io/v1", "APIService"),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
    ("cert-manager.io/v1", "Certificate"),
    ("operators.coreos.com/v1", "OperatorGroup"),
    ("operators.coreos.com/v1alpha1", "Subscription"),
    ("gateway.networking.k8s.io/v1", "Gateway"),
    ("example.test/v1", "Thing"),
]


def obj(kind: tuple[str, str], name: str, namespace: str = "") -> dict[str, Any]:
    return {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": name, "namespace": namespace}}


THING_CRD = {
    **obj(("apiextensions.k8s.io/v1", "CustomResourceDefinition"), "things.example.test"),
    "spec": {"group": "example.test", "names": {"kind": "Thing"}},
}
OBJECTS = st.lists(
    st.builds(obj, st.sampled_from(KINDS), st.sampled_from("abcd"), st.sampled_from(["", "n"])),
    unique_by=ref_of,
    max_size=12,
)


@given(OBJECTS, st.booleans())
def test_every_object_is_in_exactly_one_wave(objects: list[dict[str, Any]], own: bool) -> None:
    everything = [*objects, THING_CRD] if own else objects
    found = [ref_of(each) for wave in waves(everything) for each in wave.objects]
    assert sorted(found) == sorted(ref_of(each) for each in everything)


@given(OBJECTS, st.randoms())
def test_the_order_does_not_depend_on_the_input_s(objects: list[dict[str, Any]], random: Any) -> None:
    shuffled = list(objects)
    random.shuffle(shuffled)
    assert waves(shuffled) == waves(objects)


@given(OBJECTS)
def test_stages_rise(objects: list[dict[str, Any]]) -> None:
    stages = [wave.stage for wave in waves(objects)]
    assert stages == sorted(set(stages))


def stages_of(*objects: dict[str, Any]) -> dict[str, Stage]:
    return {each["kind"]: wave.stage for wave in waves(objects) for each in wave.objects}


def test_own_resources_come_last_and_others_before_the_workloads() -> None:
    found = stages_of(*[obj(kind, "a") for kind in KINDS if kind[1] != "CustomResourceDefinition"], THING_CRD)
    assert found["Namespace"] < found["CustomResourceDefinition"] < found["ConfigMap"] < found["Certificate"]
    assert found["Certificate"] < found["Deployment"] < found["MutatingWebhookConfiguration"] < found["Thing"]
    assert found["APIService"] == Stage.EXTENSIONS
    assert found["PersistentVolumeClaim"] == Stage.WORKLOADS


def test_a_kind_that_another_component_defines_is_a_requirement() -> None:
    assert stages_of(obj(("example.test/v1", "Thing"), "a"))["Thing"] == Stage.REQUIREMENTS


def test_a_gateway_comes_after_its_controller_though_its_kind_is_another_component_s() -> None:
    api = "gateway.networking.k8s.io/v1"
    found = stages_of(*[obj(kind, "a") for kind in [*KINDS, (api, "GatewayClass"), (api, "HTTPRoute")]])
    assert found["Deployment"] < found["GatewayClass"] == found["Gateway"] == found["HTTPRoute"] == Stage.RESOURCES
    assert found["Certificate"] < found["Deployment"]


def test_a_gateway_goes_before_its_controller() -> None:
    refs = [ref_of(obj(kind, "a")) for kind in KINDS]
    by_kind = {ref.kind: step for step, each in steps(refs, frozenset()) for ref in each}
    assert by_kind["Gateway"] is Step.RESOURCES
    assert by_kind["Certificate"] is Step.REQUIREMENTS


@given(OBJECTS)
def test_a_removal_takes_each_object_once_resources_first_and_definitions_last(objects: list[dict[str, Any]]) -> None:
    refs = {ref_of(each) for each in [*objects, THING_CRD]}
    found = steps(refs, defined_kinds([THING_CRD]))
    assert sorted(ref for _, step in found for ref in step) == sorted(refs)
    order = [step for step, _ in found]
    assert order == sorted(order)
    by_kind = {ref.kind: step for step, each in found for ref in each}
    assert by_kind.get("Thing", Step.RESOURCES) is Step.RESOURCES
    assert by_kind["CustomResourceDefinition"] is Step.DEFINITIONS


def test_references_are_ordered_by_group_kind_namespace_and_name() -> None:
    refs = [ObjectRef("b", "A", "", "x"), ObjectRef("a", "B", "n", "y"), ObjectRef("a", "B", "n", "x")]
    assert [str(ref) for ref in sorted(refs)] == ["B n/x", "B n/y", "A x"]


def test_a_subscription_comes_before_what_its_operator_brings() -> None:
    kinds = [("cert-manager.io/v1", "Certificate"), ("operators.coreos.com/v1alpha1", "Subscription")]
    found = waves([obj(kind, "a") for kind in kinds])
    assert [wave.stage for wave in found] == [Stage.OPERATORS, Stage.REQUIREMENTS]
    assert [ref_of(each).kind for wave in found for each in wave.objects] == ["Subscription", "Certificate"]
