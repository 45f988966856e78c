"""One item more in a list of a YAML file: block and flow, at the end of the file and before more, empty, missing."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from modelyard.errors import CatalogError
from modelyard.scaffold.append import append


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a:\n- x\n- y\n", "a:\n- x\n- y\n- new\n"),
        ("a:\n- x # why\n\n# more\nb: 1\n", "a:\n- x # why\n- new\n\n# more\nb: 1\n"),
        ("a:\n  - x", "a:\n  - x\n  - new\n"),
        ("a: [x, y] # why\n", "a: [x, y, new] # why\n"),
        ("a: []\nb: 1\n", "a: [new]\nb: 1\n"),
        ("a: [\n  x,\n  y\n]\n", "a: [\n  x,\n  y, new]\n"),
        ("a: [x, new]\n", "a: [x, new]\n"),
        ("a:\n- new\n- y\n", "a:\n- new\n- y\n"),
    ],
)
def test_the_item_is_at_the_end_and_all_else_as_it_was(before: str, after: str) -> None:
    assert append(before, ("a",), "new", shown="f") in (after, after.replace("y, new]", "y, new\n]"))


@pytest.mark.parametrize("text", ["", "b: [x]\n", "a: x\n", "a: {b: c}\n"])
def test_a_missing_list_is_told(text: str) -> None:
    with pytest.raises(CatalogError, match="f: has no list a that new could be added to"):
        append(text, ("a",), "new", shown="f")


WORDS = st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), unique=True)


@given(WORDS, WORDS, st.booleans(), st.integers(2, 6))
def test_what_is_read_back_has_the_item_and_nothing_else_changed(
    first: list[str], second: list[str], flow: bool, indent: int
) -> None:
    value = {"a": {"b": first}, "z": second}
    text = yaml.safe_dump(value, default_flow_style=None if flow else False, indent=indent)
    found = append(text, ("a", "b"), "new-item", shown="f")
    assert yaml.safe_load(found) == {"a": {"b": [*first, "new-item"]}, "z": second}
    assert append(found, ("a", "b"), "new-item", shown="f") == found
