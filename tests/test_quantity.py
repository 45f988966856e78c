"""Quantities: the suffixes of the API, exactly."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.quantity import parse


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("100m", "0.1"),
        ("2", "2"),
        (2, "2"),
        (0.5, "0.5"),
        ("1Gi", str(1024**3)),
        ("1G", str(1000**3)),
        ("128Mi", str(128 * 1024**2)),
        ("1e3", "1000"),
        ("12E", str(12 * 1000**6)),
        ("5n", "0.000000005"),
        ("-1k", "-1000"),
    ],
)
def test_quantities_are_read_exactly(value: object, expected: str) -> None:
    assert parse(value) == Decimal(expected)


@pytest.mark.parametrize("value", ["", "abc", "1.2.3", "10x", "Ki", True, None, [], "1 Gi"])
def test_what_is_no_quantity_is_none(value: object) -> None:
    assert parse(value) is None


@given(st.integers(-(10**9), 10**9))
def test_milli_is_a_thousandth(number: int) -> None:
    assert parse(f"{number}m") == Decimal(number) / 1000
