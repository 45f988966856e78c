"""Inventories: what is written is read back, and what must not be trusted is not."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.catalog import load
from modelyard.catalog.removal import NO_RULES
from modelyard.errors import RefusalError
from modelyard.objects import GroupKind, ObjectRef, annotations_of
from modelyard.paths import data_root
from modelyard.plan import inventory
from modelyard.plan.inventory import Inventory
from modelyard.plan.prune import prune_set

NAME = st.from_regex(r"[a-z]([a-z0-9-]{0,6}[a-z0-9])?", fullmatch=True)
KIND = st.builds(GroupKind, st.sampled_from(["", "apps", "example.test"]), st.sampled_from(["Thing", "Other"]))
REF = st.builds(
    lambda kind, namespace, name: ObjectRef(kind.group, kind.kind, namespace, name),
    KIND,
    st.just("") | NAME,
    NAME | st.just("system:auth:reader"),
)
INVENTORY = st.builds(
    Inventory,
    component=NAME,
    version=st.sampled_from(["", "v1.2.3"]),
    target=NAME,
    cluster=st.uuids().map(str),
    group_kinds=st.frozensets(KIND),
    namespaces=st.frozensets(NAME.filter(lambda name: name != inventory.NAMESPACE)),
    objects=st.frozensets(REF),
    requires=st.lists(NAME, unique=True).map(sorted).map(tuple),
    rules=st.just(({"apiVersion": "v1", "kind": "Thing", "current": "true"},)),
    complete=st.sampled_from(["", "abc"]),
    removal=st.sampled_from([None, NO_RULES, load(data_root()).component("kueue").removal]),
    adopted=st.dictionaries(REF, st.sampled_from(["Helm, release kueue", "kubectl apply"])),
)


@given(INVENTORY)
def test_what_is_written_is_read_back(wanted: Inventory) -> None:
    parent = inventory.parent_object(wanted, tool_version="1.0")
    assert inventory.read_parent(parent) == wanted
    assert inventory.trouble(parent, wanted.component, cluster=wanted.cluster) == ""


@given(st.frozensets(KIND, min_size=1))
def test_group_kinds_are_sorted_and_written_as_kubectl_does(kinds: frozenset[GroupKind]) -> None:
    wanted = Inventory("a", "", "local", "id", kinds, frozenset())
    notes = annotations_of(inventory.parent_object(wanted, tool_version="1.0"))
    written = notes["applyset.kubernetes.io/contains-group-kinds"].split(",")
    assert written == sorted(f"{kind.kind}.{kind.group}" if kind.group else kind.kind for kind in kinds)


def test_the_id_is_the_hash_of_name_namespace_kind_and_group() -> None:
    digest = hashlib.sha256(b"modelyard-kueue.modelyard-system.ConfigMap.").digest()
    expected = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    assert inventory.applyset_id("kueue") == f"applyset-{expected}-v1"
    assert len(inventory.applyset_id("kueue")) <= 63  # a label value


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"annotations": {inventory.TOOLING: "kubectl/v1.35"}}, "managed by kubectl"),
        ({"annotations": {inventory.TOOLING: ""}}, "nobody that says so"),
        ({"labels": {inventory.ID_LABEL: "applyset-x-v1"}}, "is not that of this ApplySet"),
        ({"annotations": {inventory.CLUSTER: "other"}}, "written in another cluster (other, this is here)"),
        ({"annotations": {inventory.GROUP_KINDS: None}}, "is lost"),
    ],
)
def test_an_inventory_that_must_not_be_trusted(change: dict[str, dict[str, Any]], said: str) -> None:
    parent: dict[str, Any] = inventory.parent_object(
        Inventory("kueue", "", "local", "here", frozenset(), frozenset()), tool_version="1.0"
    )
    for part, entries in change.items():
        for key, value in entries.items():
            if value is None:
                del parent["metadata"][part][key]
            else:
                parent["metadata"][part][key] = value
    assert said in inventory.trouble(parent, "kueue", cluster="here")


@pytest.mark.parametrize("written", ['{"halts": []}', '{"drains": [{}]}', "no JSON"])
def test_rules_that_this_modelyard_does_not_know_are_not_passed_over(written: str) -> None:
    parent: dict[str, Any] = inventory.parent_object(
        Inventory("kueue", "", "local", "here", frozenset(), frozenset()), tool_version="1.0"
    )
    parent["data"]["removal"] = written
    assert "not ones that this modelyard knows" in inventory.trouble(parent, "kueue", cluster="here")


@given(st.frozensets(REF, min_size=1), st.frozensets(REF))
def test_only_members_that_are_not_desired_are_pruned(
    desired: frozenset[ObjectRef], live: frozenset[ObjectRef]
) -> None:
    assert set(prune_set("a", desired, live, inventory=True)) == live - desired


@given(st.frozensets(REF))
def test_an_empty_render_is_a_refusal(live: frozenset[ObjectRef]) -> None:
    with pytest.raises(RefusalError, match="rendered to nothing"):
        prune_set("a", [], live, inventory=True)


@given(st.frozensets(REF, min_size=1), st.frozensets(REF))
def test_without_an_inventory_nothing_is_pruned(desired: frozenset[ObjectRef], live: frozenset[ObjectRef]) -> None:
    if live - desired:
        with pytest.raises(RefusalError, match="is lost"):
            prune_set("a", desired, live, inventory=False)
    else:
        assert prune_set("a", desired, live, inventory=False) == ()
