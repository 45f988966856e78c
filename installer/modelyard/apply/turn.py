"""One command at a time changes a cluster: who comes second is told who is at work, and waits.

The Lease is in the inventories' namespace and goes with it. A holder renews it in a thread of its own. One that was
killed is let go of as soon as it is known to be gone: at once on its own machine, elsewhere after lease.SECONDS without
a sign of life, measured by the waiting side's monotonic clock (docs/adr/0009-one-at-a-time.md).
"""

from __future__ import annotations

import getpass
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from modelyard.apply import members
from modelyard.apply.processes import is_gone, name_process
from modelyard.apply.run import stopped
from modelyard.cluster import ApiError, Session
from modelyard.errors import ModelyardError, NotReadyError, RefusalError
from modelyard.events import Emit, Note, discard
from modelyard.objects import Object, ObjectRef, text
from modelyard.plan import inventory, lease
from modelyard.plan.lease import Holder, Seen

ASK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Clock:
    """The time, as this machine has it."""

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def this_command(command: str) -> Holder:
    """Return this process as a holder."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    pid = os.getpid()
    return Holder(f"{user}@{socket.gethostname()}", pid, command, uuid.uuid4().hex[:12], name_process(pid))


@dataclass(slots=True)
class Turn:
    """The right to change a cluster, once it was taken.

    Args:
        session: the cluster.
        holder: who wants it.
        emit: is told who is waited for.
        timeout: seconds to wait for another.
        cancelled: ends the waiting; is set when another has taken the cluster over.
        clock: the time.
    """

    session: Session
    holder: Holder
    emit: Emit
    timeout: float
    cancelled: threading.Event
    clock: Clock
    taken_over: str = ""
    _held: bool = False
    _ended: threading.Event = field(default_factory=threading.Event)
    _renewing: threading.Thread | None = None

    def take(self) -> bool:
        """Wait until nobody else is at work; return whether somebody may have been since the cluster was read.

        Raises:
            NotReadyError: another one still is when the time is over; says who.
            StoppedError: `cancelled` was set.
        """
        if self._held:
            return False
        deadline, seen, told = self.clock.monotonic() + self.timeout, Seen(), ""
        while True:
            if self.cancelled.is_set():
                raise stopped()
            found = self.session.get(lease.REF)
            now = self.clock.monotonic()
            seen = seen if found is None else seen.updated(found, now)
            if found is None or self._is_free(found, seen, now):
                if self._write(found):
                    self._begin()
                    return found is not None
                told = told or "the namespace of the inventories is being deleted"
            else:
                said = lease.sentence(found)
                if said != told:
                    self.emit(Note(f"waiting: {said}"))
                told = said
            if now >= deadline:
                raise NotReadyError(
                    f"cluster {self.session.server}",
                    f"{told}; waited for {self.timeout:.0f} s",
                    f"wait until that has ended, then run the same command again; a command that was killed counts as "
                    f"gone after {lease.SECONDS} s",
                )
            self.cancelled.wait(ASK_SECONDS)

    def end(self) -> None:
        """Let go; what cannot be told to the cluster is told by silence."""
        self._ended.set()
        if self._renewing is not None:
            self._renewing.join(timeout=ASK_SECONDS)
        if self._held:
            with suppress(ModelyardError):
                found = self.session.get(lease.REF)
                if found is not None and lease.holder_of(found) == self.holder.identity:
                    self.session.patch(lease.REF, lease.release(_version(found)))

    def renew(self) -> None:
        """Say once that this command lives.

        Where the apiserver does not answer, nobody else gets an answer either; where the Lease is gone, so is the
        namespace: an uninstall has come to its end.
        """
        with suppress(ModelyardError):
            found = self.session.get(lease.REF)
            if found is None:
                return
            if lease.holder_of(found) != self.holder.identity:
                self.taken_over = lease.sentence(found) if lease.holder_of(found) else "it was released by another"
                self.cancelled.set()
                self._ended.set()
                return
            self.session.patch(lease.REF, lease.renewal(_version(found), self.clock.now()))

    def _is_free(self, found: Object, seen: Seen, now: float) -> bool:
        holder = lease.holder_of(found)
        if not holder or holder == self.holder.identity:
            return True
        gone = is_gone(lease.process_of(found))
        if gone or seen.silent(now):
            why = "its process has ended" if gone else f"no sign of life for {lease.SECONDS} s"
            self.emit(Note(f"going on: {lease.sentence(found)}; but {why}"))
            return True
        return False

    def _write(self, found: Object | None) -> bool:
        """Write the Lease; False where another was quicker, or the namespace is being deleted."""
        wanted = lease.lease_object(self.holder, self.clock.now())
        try:
            if found is None:
                members.ensure_namespace(self.session)
                self.session.create(wanted)
            else:
                metadata = {**_mapping(wanted, "metadata"), "resourceVersion": _version(found)}
                self.session.patch(lease.REF, {**wanted, "metadata": metadata})
        except ApiError as error:
            if error.code in (404, 409) or "being terminated" in error.message:
                return False
            raise
        return True

    def _begin(self) -> None:
        self._held = True
        self._renewing = threading.Thread(target=self._keep, name="at-work", daemon=True)
        self._renewing.start()

    def _keep(self) -> None:
        while not self._ended.wait(lease.RENEW_SECONDS):
            self.renew()


@contextmanager
def at_work(
    session: Session,
    holder: Holder,
    *,
    emit: Emit = discard,
    timeout: float = 300.0,
    cancelled: threading.Event | None = None,
    clock: Clock | None = None,
) -> Iterator[Turn]:
    """Give the right to change a cluster, and take it back at the end.

    Where nothing of modelyard's is on the cluster it is not taken yet: the caller does so, by `Turn.take`, when it has
    read all that it has to know and before it writes anything.

    Args:
        session: the cluster.
        holder: who wants it.
        emit: is told who is waited for.
        timeout: seconds to wait for another.
        cancelled: ends the waiting; is set when another has taken the cluster over.
        clock: the time; None: this machine's.

    Raises:
        NotReadyError: another one still is at work when the time is over; says who.
        RefusalError: another one has taken the cluster over, as this one was not heard of: it slept, say.
    """
    turn = Turn(session, holder, emit, timeout, cancelled or threading.Event(), clock or Clock())
    try:
        if session.get(ObjectRef("", "Namespace", "", inventory.NAMESPACE)) is not None:
            turn.take()
        try:
            yield turn
        except ModelyardError as error:
            if turn.taken_over:
                raise _lost(session, turn) from error
            raise
    finally:
        turn.end()


def _lost(session: Session, turn: Turn) -> RefusalError:
    return RefusalError(
        f"cluster {session.server}",
        f"another command took it over, as this one gave no sign of life for {lease.SECONDS} s: {turn.taken_over}",
        "wait until that has ended, then run the same command again: it goes on where it was",
    )


def _version(found: Object) -> str:
    return text(found, "metadata", "resourceVersion")


def _mapping(obj: dict[str, object], key: str) -> dict[str, object]:
    found = obj[key]
    assert isinstance(found, dict)
    return found
