"""What a cluster must have so that somebody else's component does for ours."""

from __future__ import annotations

from typing import Any

from modelyard.objects import ref_of
from modelyard.plan.provided import brought, lacking

Obj = dict[str, Any]


def definition(**served: bool) -> Obj:
    """Return a CRD with these versions; the last is stored."""
    last = list(served)[-1]
    versions = [{"name": name, "served": on, "storage": name == last} for name, on in served.items()]
    metadata = {"name": "issuers.example.test"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {"versions": versions},
    }


ISSUER: Obj = {"apiVersion": "example.test/v1", "kind": "Issuer", "metadata": {"name": "ca"}}
SUBSCRIPTION: Obj = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "metadata": {"name": "x"}}
DEPLOYMENT: Obj = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "namespace": "y"}}


def by_ref(*objects: Obj) -> dict[Any, Any]:
    return {ref_of(obj): obj for obj in objects}


def test_definitions_and_custom_resources_are_what_others_use() -> None:
    assert brought([definition(v1=True), ISSUER, SUBSCRIPTION, DEPLOYMENT]) == by_ref(definition(v1=True), ISSUER)


def test_nothing_is_lacking_where_all_is_there_in_the_version_that_is_used() -> None:
    wanted = by_ref(definition(v1=True), ISSUER)
    assert lacking(wanted, by_ref(definition(v1=True, v2=True), ISSUER)) == ()


def test_a_version_that_is_not_served_and_an_object_that_is_not_there_are_named() -> None:
    wanted = by_ref(definition(v1=True), ISSUER)
    assert lacking(wanted, by_ref(definition(v1=False, v2=True))) == (
        "CustomResourceDefinition issuers.example.test, version v1",
        "Issuer ca",
    )
    assert len(lacking(wanted, {})) == 2
