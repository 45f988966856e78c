"""One command at a time changes a cluster, on a real control plane.

| the other | what the second one does |
| --- | --- |
| lives, and renews | waits, tells who it is; ends with that when its time is over |
| ends | goes on, and reads anew what it had read |
| was killed on this machine | goes on at once |
| was killed elsewhere | goes on when it has seen no change for lease.SECONDS by its own clock |
| has a clock two hours off | all of that, just the same |
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from apply_helpers import Events

from modelyard.apply import at_work
from modelyard.apply.processes import is_gone, name_process
from modelyard.apply.turn import Clock, Turn, this_command
from modelyard.cluster import Session
from modelyard.errors import NotReadyError, RefusalError
from modelyard.events import Note, discard
from modelyard.objects import ObjectRef, text
from modelyard.plan import lease
from modelyard.plan.lease import Holder

ELSEWHERE = Holder("ops@elsewhere", 77, "modelyard install --target cloud", "token", "")


class Hours:
    """A clock of this test's own: it goes on by a step whenever somebody looks at it."""

    def __init__(self, *, off: timedelta = timedelta(), step: float = 1.0) -> None:
        self._seconds, self._off, self._step = 0.0, off, step

    def monotonic(self) -> float:
        self._seconds += self._step
        return self._seconds

    @property
    def clock(self) -> Clock:
        return Clock(self.monotonic, lambda: datetime.now(UTC) + self._off)


@pytest.fixture(autouse=True)
def free(session: Session, choice: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody is at work; other tests' installs have another Lease than these."""
    monkeypatch.setattr(lease, "REF", ObjectRef("coordination.k8s.io", "Lease", "default", "at-work"))
    monkeypatch.setattr("modelyard.apply.turn.ASK_SECONDS", 0.05)
    session.delete(lease.REF)
    yield
    session.delete(lease.REF)


def notes(events: Events) -> list[str]:
    return [event.text for event in events.of(Note)]


def holding(session: Session, holder: Holder = ELSEWHERE, **clock: object) -> None:
    """Leave a Lease behind as a command that was killed does."""
    session.create(lease.lease_object(holder, datetime.now(UTC) + clock.get("off", timedelta())))  # type: ignore[operator]


def test_who_comes_second_waits_and_is_told_who_is_at_work(session: Session, events: Events) -> None:
    waits, ended = threading.Event(), threading.Event()
    order: list[str] = []

    def tell(event: object) -> None:
        events(event)  # type: ignore[arg-type]
        waits.set()

    def second() -> None:
        with at_work(session, this_command("modelyard uninstall"), emit=tell, timeout=60) as turn:
            turn.take()
            order.append("second")

    with at_work(session, this_command("modelyard install --target kind"), timeout=60) as turn:
        assert turn.take() is False
        thread = threading.Thread(target=second)
        thread.start()
        assert waits.wait(60)
        order.append("first")
    thread.join(60)
    ended.set()
    assert order == ["first", "second"]
    assert f"(pid {os.getpid()}) is at work on it since " in notes(events)[0]
    assert notes(events)[0].endswith("modelyard install --target kind")
    assert len(notes(events)) == 1  # each sentence once


def test_a_second_command_ends_with_who_is_at_work_when_its_time_is_over(session: Session) -> None:
    with at_work(session, this_command("modelyard install")) as first:
        first.take()
        with (
            pytest.raises(
                NotReadyError, match=r"is at work on it since .*: modelyard install; waited for 0 s"
            ) as caught,
            at_work(session, this_command("modelyard install"), timeout=0.2) as second,
        ):
            second.take()
    assert "run the same command again" in caught.value.remedy


def test_what_was_read_before_has_to_be_read_anew_where_another_was_at_work_since(session: Session) -> None:
    with at_work(session, this_command("a")) as first:
        first.take()
    second = Turn(session, this_command("b"), discard, 60, threading.Event(), Clock())
    try:
        assert second.take() is True
        assert second.take() is False  # it has it
    finally:
        second.end()


@pytest.mark.parametrize("hours", [-2, 0, 2])
def test_a_command_that_was_killed_elsewhere_is_not_waited_for_for_long(
    session: Session, events: Events, hours: int
) -> None:
    holding(session, off=timedelta(hours=hours))
    mine = Hours(step=lease.SECONDS / 2 + 1)
    with at_work(session, this_command("x"), emit=events, timeout=600, clock=mine.clock) as turn:
        turn.take()
    assert "no sign of life for 15 s" in notes(events)[-1]


@pytest.mark.parametrize("hours", [-2, 2])
def test_a_command_that_lives_keeps_its_turn_whatever_the_clocks_say(
    session: Session, events: Events, hours: int
) -> None:
    off = Hours(off=timedelta(hours=hours)).clock
    with at_work(session, ELSEWHERE, clock=off) as first:
        first.take()
        told = []

        def renewing(event: object) -> None:
            told.append(event)

        mine = Hours(step=1.0)
        second = replace(this_command("x"), token="second")
        with (
            pytest.raises(NotReadyError, match="ops@elsewhere"),
            at_work(session, second, emit=renewing, timeout=200, clock=Renewing(mine, first.renew).clock) as turn,
        ):
            turn.take()
        assert first.taken_over == ""


class Renewing(Hours):
    """A clock that goes on while another command renews its Lease, every ten seconds of it."""

    def __init__(self, inner: Hours, renew: object) -> None:
        super().__init__(step=10.0)
        self._renew = renew

    def monotonic(self) -> float:
        self._renew()  # type: ignore[operator]
        return super().monotonic()


def test_a_command_that_was_killed_on_this_machine_is_not_waited_for(session: Session, events: Events) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    holding(session, replace(ELSEWHERE, process=name_process(child.pid)))
    assert not is_gone(name_process(child.pid))
    child.kill()
    child.wait()
    with at_work(session, this_command("x"), emit=events, timeout=0.1) as turn:
        turn.take()
    assert "its process has ended" in notes(events)[-1]


def test_a_command_that_slept_too_long_stops_when_another_took_over(session: Session) -> None:
    cancelled = threading.Event()
    with (
        pytest.raises(RefusalError, match=r"another command took it over.*ops@elsewhere"),
        at_work(session, this_command("slow"), cancelled=cancelled) as turn,
    ):
        turn.take()
        found = session.get(lease.REF)
        taken = lease.lease_object(ELSEWHERE, datetime.now(UTC))
        session.patch(lease.REF, taken)
        turn.renew()
        assert cancelled.is_set()
        assert found is not None
        turn.cancelled.wait()
        raise NotReadyError("x", "whatever a stopped run says")
    assert text(session.get(lease.REF), "spec", "holderIdentity") == ELSEWHERE.identity  # its turn is left alone


def test_a_process_of_another_machine_is_never_called_gone() -> None:
    own = name_process(os.getpid())
    assert not is_gone(own)
    assert is_gone("/".join([*own.split("/")[:3], "1"]))  # the pid has been given to another since
    assert not is_gone("/".join(["other-boot", *own.split("/")[1:3], "1"]))
    assert not is_gone("")
