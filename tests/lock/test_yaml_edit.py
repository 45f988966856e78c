"""One value of a YAML text is changed, and nothing else of it."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from modelyard.errors import CatalogError
from modelyard.lock.edit import Scalar, drop, put, scalars
from modelyard.paths import data_root

TEXT = """\
# the first comment
upstreams:
  b: # kept
    ref: v1   # kept too
    commit: abc
    quoted: 'v1'
  a: {ref: "v2", list: [x, v3]}
note: >-
  folded v1
  text
"""


def test_only_the_value_changes() -> None:
    after = put(TEXT, {("upstreams", "b", "ref"): "v9", ("upstreams", "a", "list", 1): "v8"}, shown="f")
    assert after == TEXT.replace("ref: v1  ", "ref: v9  ").replace("x, v3", "x, v8")


def test_quotes_stay_as_they_were() -> None:
    after = put(TEXT, {("upstreams", "b", "quoted"): "v9", ("upstreams", "a", "ref"): "v8"}, shown="f")
    assert "quoted: 'v9'" in after
    assert 'ref: "v8"' in after


def test_value_that_would_be_a_number_is_quoted() -> None:
    after = put(TEXT, {("upstreams", "b", "ref"): "1.20"}, shown="f")
    assert yaml.safe_load(after)["upstreams"]["b"]["ref"] == "1.20"


def test_path_that_does_not_exist_is_an_error_that_names_it() -> None:
    with pytest.raises(CatalogError, match=r"f: has no upstreams\.c\.ref"):
        put(TEXT, {("upstreams", "c", "ref"): "v9"}, shown="f")


def test_dropped_entry_takes_its_line_only() -> None:
    assert drop(TEXT, ("upstreams", "b", "commit")) == TEXT.replace("    commit: abc\n", "")
    assert drop(TEXT, ("upstreams", "b", "nothing")) == TEXT


def test_places_are_counted_in_characters_whatever_they_are() -> None:
    text = "\ufeffa: \N{LATIN SMALL LETTER E WITH ACUTE} # \N{GRINNING FACE}\nb: [x, v1]\n"
    assert put(text, {("b", 1): "v2"}, shown="f") == text.replace("v1", "v2")


# Read once: an example would take four times as long.
LOCK = (data_root() / "upstream.lock").read_text(encoding="utf-8")
SCALARS = list(scalars(LOCK))
WORDS = [scalar for scalar in SCALARS if "\n" not in LOCK[scalar.start : scalar.end] and scalar.value]


@given(st.sampled_from(WORDS), st.from_regex(r"v[0-9]\.[0-9]{1,3}(-rc\.[0-9])?", fullmatch=True))
def test_any_value_of_upstream_lock_can_be_changed_alone(scalar: Scalar, new: str) -> None:
    after = put(LOCK, {scalar.path: new}, shown="upstream.lock")
    assert {each.path: each.value for each in scalars(after)} == {
        each.path: new if each.path == scalar.path else each.value for each in SCALARS
    }
    assert [line for line in after.splitlines() if "#" in line and "sha256" not in line][:1] == LOCK.splitlines()[:1]
    assert len(after.splitlines()) == len(LOCK.splitlines())
