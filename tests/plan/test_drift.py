"""Drift: what others add is theirs, what we said must stay, and forms that mean the same are the same."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.errors import CatalogError
from modelyard.objects import GroupKind, annotations_of, labels_of
from modelyard.plan.changes import Action, action
from modelyard.plan.desired import DIGEST, prepare
from modelyard.plan.drift import contained, drifted
from modelyard.plan.inventory import PART_OF_LABEL
from modelyard.plan.quantities import is_quantity

LEAVES = st.text(max_size=4) | st.integers(-5, 5) | st.booleans()
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
)
OBJECTS = st.dictionaries(st.text(min_size=1, max_size=3), VALUES, max_size=4)


def said(desired: object, live: object, *, quantity: bool = False) -> bool:
    return contained(desired, live, lambda path: quantity)


def with_additions(value: Any) -> Any:
    """What an apiserver might make of `value`: more fields everywhere, the same elements in lists."""
    if isinstance(value, dict):
        return {key: with_additions(each) for key, each in value.items()} | {"added by a default": 1}
    return [with_additions(each) for each in value] if isinstance(value, list) else value


@given(OBJECTS)
def test_a_live_object_with_more_fields_has_not_drifted(desired: dict[str, Any]) -> None:
    assert said(desired, desired)
    assert said(desired, with_additions(desired))


@given(OBJECTS, st.data())
def test_any_changed_field_is_drift(desired: dict[str, Any], data: st.DataObject) -> None:
    keys = [key for key, value in desired.items() if value not in ("", 0, False, [], {})]
    if keys:
        live = copy.deepcopy(desired)
        live[data.draw(st.sampled_from(keys))] = "something else entirely"
        assert not said(desired, live)


@pytest.mark.parametrize(
    ("desired", "live"),
    [
        ({}, None),
        ([], None),
        (None, None),
        (False, None),
        ("", None),
    ],
)
def test_two_forms_of_the_same_are_equal(desired: object, live: object) -> None:
    assert said({"x": desired}, {"x": live})


@pytest.mark.parametrize(
    ("desired", "live"),
    [("1", "2"), ("1Gi", "1Mi"), (True, None), (True, 1), (1, True), ("a", None), ([1], [1, 2]), ({"a": 1}, None)],
)
def test_two_things_that_differ_are_not(desired: object, live: object) -> None:
    assert not said({"x": desired}, {"x": live}, quantity=True)


def deployment(**fields: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "x:1.10"} | fields
    pods = {"template": {"spec": {"containers": [container]}}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "namespace": "n"}, "spec": pods}


AMOUNTS = st.integers(0, 10**6)
LIKE_QUANTITIES = st.sampled_from(["1.1", "1.10", "500m", "0.5", "1", "1000m", "1e3", "1k", "1000", "1Ki", "1024"])


@given(AMOUNTS, st.sampled_from(["", "000m", ".0", "e0", ".000"]), st.sampled_from(["", "000m", ".0", "e0"]))
def test_the_same_quantity_in_another_notation_has_not_drifted(amount: int, one: str, other: str) -> None:
    desired = prepare(deployment(resources={"requests": {"cpu": f"{amount}{one}"}}), "set")
    live = copy.deepcopy(desired)
    live["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = f"{amount}{other}"  # type: ignore[index]
    assert not drifted(desired, live)


@given(LIKE_QUANTITIES, LIKE_QUANTITIES, st.sampled_from(["image", "workingDir", "env"]))
def test_different_values_of_a_field_that_is_no_quantity_are_always_drift(one: str, other: str, field: str) -> None:
    def having(value: str) -> dict[str, Any]:
        return deployment(**{field: [{"name": "VERSION", "value": value}] if field == "env" else value})

    desired = prepare(having(one), "set")
    live = {**prepare(having(other), "set"), "metadata": desired["metadata"]}  # the digest is still ours
    assert drifted(desired, live) == (one != other)


@pytest.mark.parametrize(("desired", "live"), [("1000m", "1"), ("0.5", "500m"), (1, "1"), ("1Gi", "1024Mi")])
def test_two_notations_are_one_only_where_the_schema_has_a_quantity(desired: object, live: object) -> None:
    assert said({"x": desired}, {"x": live}, quantity=True)
    assert not said({"x": desired}, {"x": live}, quantity=False)


def test_the_way_to_a_field_names_keys_and_leaves_out_positions() -> None:
    asked: list[tuple[str, ...]] = []
    contained({"a": [{"b": "1"}, {"b": "1"}]}, {"a": [{"b": "1"}, {"b": "1.0"}]}, lambda path: bool(asked.append(path)))
    assert asked == [("a", "*", "b")]


QUANTITY = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$",
    "x-kubernetes-int-or-string": True,
}
PORT = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
QUEUE = GroupKind("x.test", "Queue")


@pytest.mark.parametrize(
    ("path", "quantity"),
    [
        (("spec", "flavors", "*", "quota"), True),
        (("spec", "nodeLabels", "cpu"), False),
        (("spec", "limits", "cpu"), True),
        (("spec", "port"), False),
        (("spec", "unknown", "x"), False),
        (("data", "cpu"), False),
    ],
)
def test_a_custom_resource_s_quantities_are_those_of_its_definition(path: tuple[str, ...], quantity: bool) -> None:
    spec = {
        "type": "object",
        "properties": {
            "flavors": {"type": "array", "items": {"type": "object", "properties": {"quota": QUANTITY}}},
            "limits": {"type": "object", "additionalProperties": QUANTITY},
            "nodeLabels": {"type": "object", "additionalProperties": {"type": "string"}},
            "port": PORT,
        },
    }
    schema = {"type": "object", "properties": {"spec": spec}}
    definition = {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}
    assert is_quantity(QUEUE, "v1", path, lambda kind: definition) == quantity
    assert not is_quantity(QUEUE, "v2", path, lambda kind: definition)
    assert not is_quantity(QUEUE, "v1", path, lambda kind: None)


CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "n"}, "data": {"a": "1"}}


def test_a_field_that_is_no_longer_wanted_is_drift() -> None:
    live = prepare({**CONFIG, "data": {"a": "1", "b": "2"}}, "set")
    assert drifted(prepare(CONFIG, "set"), live)


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        (lambda spec: spec["versions"][0].update(served=False), True),
        (lambda spec: spec["versions"][0]["schema"].update(default="added"), False),
        (lambda spec: spec["versions"].append({"name": "v2"}), True),
        (lambda spec: spec.update(scope="Cluster"), True),
        (lambda spec: spec.update(conversion={"strategy": "None"}), False),
    ],
)
def test_a_definition_s_versions_are_compared_like_all_else(change: Any, differs: bool) -> None:
    version = {"name": "v1", "served": True, "schema": {"type": "object"}}
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x"}}
    desired = prepare({**crd, "spec": {"scope": "Namespaced", "versions": [version]}}, "set")
    assert not drifted(desired, copy.deepcopy(desired))
    live: Any = copy.deepcopy(desired)
    change(live["spec"])
    assert drifted(desired, live) is differs


def test_actions() -> None:
    desired = prepare(CONFIG, "set")
    assert action(desired, None) is Action.CREATE
    assert action(desired, {**desired, "status": {}}) is Action.UNCHANGED
    assert action(desired, {**desired, "data": {"a": "2"}}) is Action.UPDATE


def test_what_is_sent_carries_label_and_digest_and_leaves_the_rendered_object_alone() -> None:
    before = copy.deepcopy(CONFIG)
    sent = prepare(CONFIG, "set")
    assert before == CONFIG
    assert labels_of(sent) == {PART_OF_LABEL: "set"}
    assert DIGEST in annotations_of(sent)


def test_an_object_that_claims_another_set_is_refused() -> None:
    with pytest.raises(CatalogError, match="sets the label"):
        prepare({**CONFIG, "metadata": {"name": "x", "labels": {PART_OF_LABEL: "other"}}}, "set")


def test_a_placeholder_ca_bundle_is_not_sent_and_a_real_one_is() -> None:
    def webhook(bundle: str) -> dict[str, Any]:
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "x"},
            "webhooks": [{"name": "a.b.c", "clientConfig": {"caBundle": bundle, "url": "https://x"}}],
        }

    def sent(bundle: str) -> object:
        return prepare(webhook(bundle), "set")["webhooks"][0]["clientConfig"]  # type: ignore[index]

    assert sent("Cg==") == {"url": "https://x"}
    assert sent("cmVhbA==") == {"url": "https://x", "caBundle": "cmVhbA=="}


def test_plain_secret_data_is_sent_as_the_apiserver_keeps_it() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "stringData": {"a": "b"}}
    assert prepare(secret, "set")["data"] == {"a": "Yg=="}
