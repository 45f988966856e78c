"""Strings at a path of an object."""

from __future__ import annotations

import pytest

from modelyard.plan.paths_in import strings_at

OBJECT = {"a": {"b": "x", "c": {"1": {"d": "y"}, "2": {"d": "z"}, "3": {}}}, "l": [{"d": "v"}, "w"], "n": 1}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b", ["x"]),
        ("a.c.*.d", ["y", "z"]),
        ("l.*.d", ["v"]),
        ("l.*", ["w"]),
        ("a.b.c", []),
        ("n", []),
        ("none.*.d", []),
        ("a.b.*", []),
    ],
)
def test_strings_are_found_and_all_else_is_passed_over(path: str, found: list[str]) -> None:
    assert list(strings_at(OBJECT, path)) == found
