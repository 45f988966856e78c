"""Waiting for components to be installed: no wait without an end, and each end says what was last seen."""

from __future__ import annotations

import threading

import pytest

from modelyard.errors import NotReadyError
from modelyard.events import StepDone, StepFailed, StepProgress, discard
from modelyard.local.platform import Milestones


def test_what_is_installed_is_reached() -> None:
    milestones = Milestones(discard)
    later = threading.Timer(0.05, milestones, [StepDone("install:b", 1.0)])
    milestones(StepDone("install:a", 1.0))
    later.start()
    assert milestones.reached(["a", "b"])
    later.join()


def test_an_install_that_failed_lets_nobody_wait() -> None:
    milestones = Milestones(discard)
    milestones(StepFailed("install:b", 1.0, "x"))
    assert not milestones.reached(["a"])


def test_an_install_that_ended_and_did_not_tell_of_a_component_is_an_error() -> None:
    milestones = Milestones(discard)
    milestones(StepDone("installed:a", 1.0))  # a key that was renamed, say
    milestones.end()
    with pytest.raises(
        NotReadyError, match=r"component a: was not told .* the install ended; last seen: .*installed:a"
    ):
        milestones.reached(["a"])


def test_silence_has_an_end_that_says_what_was_last_seen() -> None:
    milestones = Milestones(discard, silence=0.05)
    milestones(StepProgress("install:a", "0 of 1 replicas"))
    with pytest.raises(NotReadyError, match=r"nothing was heard for 0 s; last seen: .*0 of 1 replicas"):
        milestones.reached(["a"])
