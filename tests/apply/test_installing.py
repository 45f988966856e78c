"""Waiting for components to be installed: every wait ends, whatever becomes of the install."""

from __future__ import annotations

import threading

from modelyard.apply import Installing, Outcome


def outcome(name: str) -> Outcome:
    return Outcome(name, ())


def test_what_is_installed_is_reached() -> None:
    installing = Installing(["a", "b", "c"])
    later = threading.Timer(0.05, installing.done, [outcome("b")])
    installing.done(outcome("a"))
    later.start()
    assert installing.reached(["a", "b"])
    later.join()


def test_an_install_that_ended_lets_nobody_wait() -> None:
    installing = Installing(["a", "b"])
    installing.done(outcome("a"))
    later = threading.Timer(0.05, installing.end)
    later.start()
    assert not installing.reached(["a", "b"])
    assert installing.reached(["a"])
    later.join()
    installing.end()
    assert not installing.reached(["b"])
