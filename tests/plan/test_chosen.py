"""What was chosen, as the cluster keeps it: written and read back; another cluster's and damaged ones are told."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.catalog.choice import Choice
from modelyard.plan import inventory
from modelyard.plan.chosen import REF, choice_object, read_choice

NAMES = st.lists(st.text(), max_size=4).map(tuple)


VALUES = st.dictionaries(st.text(), st.text(), max_size=3).map(lambda found: tuple(sorted(found.items())))


@given(
    st.builds(
        Choice, profile=st.text(), added=NAMES, left_out=NAMES, overlay=st.text(), mirror=st.text(), values=VALUES
    )
)
def test_a_choice_is_read_as_it_was_written(choice: Choice) -> None:
    assert read_choice(choice_object(choice, cluster="here"), cluster="here") == choice


def test_it_is_no_inventory() -> None:
    kept = choice_object(Choice(), cluster="here")
    assert inventory.ID_LABEL not in str(kept)
    assert not REF.name.startswith(inventory.PREFIX)


def test_another_cluster_s_choice_is_told() -> None:
    with pytest.raises(ValueError, match=r"written in another cluster \(there, this is here\)"):
        read_choice(choice_object(Choice(), cluster="there"), cluster="here")


@pytest.mark.parametrize(
    "damage",
    [
        "{",
        "[]",
        '{"profile": "core"}',
        '{"profile": 1, "added": [], "left_out": [], "overlay": ""}',
        '{"profile": "core", "added": null, "left_out": [], "overlay": ""}',
        '{"profile": "core", "added": [3], "left_out": [], "overlay": ""}',
        '{"profile": "core", "added": [], "left_out": [], "overlay": "", "mirror": null}',
        '{"profile": "core", "added": [], "left_out": [], "overlay": "", "values": [["a"]]}',
        '{"profile": "core", "added": [], "left_out": [], "overlay": "", "values": [["a", 1]]}',
    ],
)
def test_a_damaged_choice_is_told(damage: str) -> None:
    kept: Any = copy.deepcopy(choice_object(Choice(), cluster="here"))
    kept["data"]["choice"] = damage
    with pytest.raises(ValueError, match="it is damaged"):
        read_choice(kept, cluster="here")


def test_a_choice_that_was_kept_before_mirrors_were_has_none() -> None:
    kept: Any = copy.deepcopy(choice_object(Choice("full"), cluster="here"))
    kept["data"]["choice"] = '{"profile": "full", "added": [], "left_out": [], "overlay": ""}'
    assert read_choice(kept, cluster="here") == Choice("full")
