"""Which target an install is for.

| remembered | embedded | nothing asked | asked for another | asked for `local` |
| --- | --- | --- | --- | --- |
| nothing | no | has to be named | goes | never |
| nothing | yes | local | refused: it pulls no images | goes |
| a target | no | that one | refused | never |
| several, from before it was kept | no | has to be named | one of them goes | never |
"""

from __future__ import annotations

from typing import Any

import pytest

from modelyard.catalog.choice import Choice
from modelyard.plan.aim import Memory, another, remembered, unasked, wrong_machine
from modelyard.plan.embedded import embedded_name, mark_object
from modelyard.plan.inventory import Inventory


def inventory(target: str) -> Inventory:
    return Inventory("c", "", target, "here", frozenset(), frozenset())


def test_what_was_chosen_goes_before_what_the_inventories_say() -> None:
    both = [inventory("openshift"), inventory("cloud-gke"), inventory("openshift")]
    assert remembered(Choice(target="kind"), both) == ("kind",)
    assert remembered(Choice(), both) == ("cloud-gke", "openshift")  # chosen before the target was kept
    assert remembered(None, []) == ()


@pytest.mark.parametrize(
    ("memory", "taken"),
    [
        (Memory(("openshift",), ""), "openshift"),
        (Memory((), "dev"), "local"),
        (Memory(("site",), "dev"), "site"),
        (Memory((), ""), ""),
        (Memory(("kind", "openshift"), ""), ""),
    ],
)
def test_without_a_target_the_remembered_one_is_taken(memory: Memory, taken: str) -> None:
    assert unasked(memory) == taken


def test_another_target_is_told_by_what_the_cluster_was_installed_for() -> None:
    assert another(["local"], Memory(("openshift",), "")) == "openshift"
    assert another(["openshift"], Memory(("openshift",), "")) == ""
    assert another(["cloud"], Memory((), "")) == ""
    assert another(["site", "cloud"], Memory(("cloud",), "")) == ""  # an overlay is on the target it stands on
    assert another(["site", "cloud"], Memory(("site",), "")) == ""  # as inventories of before have it
    assert another(["kind"], Memory(("cloud", "openshift"), "")) == "cloud, openshift"


def test_local_is_for_embedded_clusters_and_they_are_for_it() -> None:
    assert "is not an embedded cluster" in wrong_machine("local", Memory((), ""))
    assert "is the embedded cluster dev" in wrong_machine("cloud", Memory((), "dev"))
    assert wrong_machine("local", Memory((), "dev")) == wrong_machine("cloud", Memory((), "")) == ""


def test_a_mark_counts_in_its_own_cluster_alone() -> None:
    mark: Any = mark_object("dev", cluster="here")
    assert embedded_name(mark, cluster="here") == "dev"
    assert embedded_name(mark, cluster="there") == ""  # a backup brought it
    assert embedded_name(None, cluster="here") == ""
    del mark["metadata"]["annotations"]
    assert embedded_name(mark, cluster="here") == embedded_name(mark, cluster="") == ""
