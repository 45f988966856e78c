"""What holds for the tests of the gateway."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.support.alone import room

SUITE = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module", autouse=True)
def place() -> Iterator[None]:
    """Beside the tests of other processes, from a file's first fixture to its last.

    Its clients ask all the while, between the tests too: they must never meet one that takes controllers away.
    """
    with room(SUITE / "pytest.ini", SUITE / "conftest.py", alone=False):
        yield
