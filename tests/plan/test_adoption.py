"""What is somebody else's: the table, what --adopt covers, and whose the fields are afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from modelyard.errors import CatalogError
from modelyard.objects import ref_of
from modelyard.plan.adoption import Adoption, Stranger, handed_over, refusal, table
from modelyard.plan.desired import prepare
from modelyard.plan.differences import differences, summary

Obj = dict[str, Any]


def deployment(image: str = "a:1", **spec: Any) -> Obj:
    containers = [{"name": "manager", "image": image}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "controller", "namespace": "kueue-system"},
        "spec": {"template": {"spec": {"containers": containers}}, **spec},
    }


def stranger(component: str = "kueue", owner: str = "Helm, release kueue", **live: Any) -> Stranger:
    return Stranger(component, owner, prepare(deployment(), "applyset-x"), deployment(**live))


def test_the_fields_that_would_change_are_told_with_both_values() -> None:
    live = deployment("a:0", replicas=3, extra="stays")
    assert differences(prepare(deployment(replicas=1), "applyset-x"), live) == (
        "spec.template.spec.containers[manager].image: a:0 -> a:1",
        "spec.replicas: 3 -> 1",
    )


def test_a_container_that_only_one_of_both_has_is_a_difference() -> None:
    wanted, live = deployment(), deployment()
    live["spec"]["template"]["spec"]["containers"] = [{"name": "other", "image": "b"}]
    assert [each.partition(":")[0] for each in differences(wanted, live)] == [
        "spec.template.spec.containers[manager]",
        "spec.template.spec.containers[other]",
    ]


def test_long_values_are_cut_and_control_characters_do_not_reach_the_terminal() -> None:
    [told] = differences(deployment("x\x1b[31m" + "y" * 99), deployment("line\nbreak"))
    assert told == r"spec.template.spec.containers[manager].image: line\nbreak -> x\u001b[31m" + "y" * 18 + "..."


def test_the_values_of_a_secret_are_not_told() -> None:
    secret: Obj = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"password": "bmV3"}}
    assert differences(secret, {**secret, "data": {"password": "b2xk"}}) == ("data.password",)


def test_a_summary_names_the_first_fields_and_counts_the_rest() -> None:
    assert summary(["a", "b", "c", "d", "e"]) == "a; b; c; 2 more"
    assert summary([]) == "only modelyard's label and annotation"


def test_the_table_lists_every_object_below_its_component() -> None:
    lines = table([stranger(image="a:0"), stranger("lws", "kubectl apply")]).splitlines()
    assert lines[0].split() == ["OBJECT", "OWNER", "WOULD", "CHANGE"]
    assert lines[1] == "  kueue:"
    assert "Deployment/kueue-system/controller  Helm, release kueue  spec.template" in lines[2]
    assert lines[3] == "  lws:"
    assert lines[4].endswith("kubectl apply        only modelyard's label and annotation")


def test_the_refusal_names_both_ways_on_and_what_adopting_means_at_the_end() -> None:
    error = refusal("https://c", [stranger(), stranger("lws", "kubectl apply")], "nothing was written")
    assert error.exit_code == 12
    assert "somebody else has 2 of the objects" in error.cause
    assert "--without kueue --without lws" in error.remedy
    assert "--adopt kueue --adopt lws" in error.remedy
    assert "--adopt Deployment/kueue-system/controller" in error.remedy
    assert "is deleted when its component is uninstalled" in error.remedy


@pytest.mark.parametrize(
    ("named", "covered"),
    [
        ("kueue", True),
        ("Deployment/kueue-system/controller", True),
        ("deployment/kueue-system/controller", True),
        ("Deployment/controller", False),
        ("lws", False),
        ("", False),
    ],
)
def test_adopt_covers_a_component_or_an_object(named: str, covered: bool) -> None:
    assert Adoption((named,)).covers("kueue", ref_of(deployment())) is covered


def test_adopt_of_what_is_not_installed_is_an_error() -> None:
    desired = {"kueue": [deployment()]}
    Adoption(("kueue", "deployment/kueue-system/controller")).check(desired)
    with pytest.raises(CatalogError, match="--adopt Deployment/controller: names nothing that is to be installed"):
        Adoption(("Deployment/controller",)).check(desired)


def managed(manager: str, fields: Obj, **more: Any) -> Obj:
    return {"manager": manager, "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": fields, **more}


def test_the_former_owners_fields_become_ours_and_controllers_keep_theirs() -> None:
    status = managed("kube-controller-manager", {"f:status": {}}, subresource="status")
    injector = managed("injector", {"f:metadata": {"f:annotations": {"f:ca": {}}}})
    live = deployment()
    live["metadata"]["managedFields"] = [
        managed("helm", {"f:spec": {"f:a": {}}, "f:metadata": {"f:labels": {}, "f:finalizers": {}}}),
        status,
        managed("kubectl-edit", {"f:spec": {"f:b": {}}, "f:status": {}}),
        injector,
        managed("helm", {"f:spec": {"f:old": {}}}, apiVersion="apps/v1beta1"),
    ]
    taken = handed_over(live, "apps/v1")
    assert taken == [
        status,
        injector,
        {
            "manager": "modelyard",
            "operation": "Apply",
            "apiVersion": "apps/v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:a": {}, "f:b": {}}, "f:metadata": {"f:labels": {}}},
        },
    ]


def test_nothing_is_handed_over_where_nobody_brought_the_object() -> None:
    assert handed_over(deployment(), "apps/v1") is None
