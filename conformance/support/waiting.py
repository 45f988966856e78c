"""Waiting with a deadline, which tells what it last saw."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Long enough for a busy machine and a first pull of an image; no test passes or fails by its speed.
SECONDS = 240.0
EVERY_SECONDS = 0.25

_most = [float("inf")]


def wait_at_most(seconds: float) -> None:
    """Shorten all waits of this run: on a platform that is broken on purpose, what fails may fail early."""
    _most[0] = seconds


def wait_for(
    what: str,
    look: Callable[[], T],
    holds: Callable[[T], bool] = bool,
    *,
    seconds: float = SECONDS,
    show: Callable[[T], object] = str,
) -> T:
    """Look until what is seen holds, and return it.

    Args:
        what: what is waited for, for the message.
        look: reads the cluster.
        holds: tells whether that is it.
        seconds: the deadline; `wait_at_most` may set an earlier one.
        show: makes what was last seen readable.

    Raises:
        AssertionError: the deadline passed.
    """
    seconds = min(seconds, _most[0])
    deadline = time.monotonic() + seconds
    while True:
        seen = look()
        if holds(seen):
            return seen
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds:.0f} s; last seen: {show(seen)}")
        time.sleep(EVERY_SECONDS)


def holds_for(
    what: str,
    look: Callable[[], T],
    holds: Callable[[T], bool],
    *,
    seconds: float,
    show: Callable[[T], object] = str,
) -> T:
    """Look again and again for a while: what is seen must hold each time. Return what was seen last.

    Args:
        what: what must hold, for the message.
        look: reads the cluster.
        holds: tells whether that is it.
        seconds: how long; it is looked at least once.
        show: makes what was seen readable.

    Raises:
        AssertionError: once it did not hold.
    """
    start = time.monotonic()
    while True:
        seen = look()
        passed = time.monotonic() - start
        assert holds(seen), f"{what}: no longer after {passed:.1f} s; seen: {show(seen)}"
        if passed >= seconds:
            return seen
        time.sleep(EVERY_SECONDS)
