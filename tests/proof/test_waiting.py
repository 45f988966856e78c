"""What must hold over a while is looked at more than once."""

from __future__ import annotations

import pytest

from conformance.support import waiting
from conformance.support.waiting import holds_for


def test_what_holds_at_first_and_then_no_longer_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "EVERY_SECONDS", 0.0)
    seen = iter([3, 3, 4])
    with pytest.raises(AssertionError, match=r"three pods: no longer after .* seen: 4"):
        holds_for("three pods", lambda: next(seen), lambda pods: pods == 3, seconds=60)


def test_what_holds_all_the_time_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "EVERY_SECONDS", 0.0)
    looked: list[int] = []

    def look() -> int:
        looked.append(1)
        return 3

    assert holds_for("three pods", look, lambda pods: pods == 3, seconds=0.01) == 3
    assert len(looked) > 1
