"""One supervised process: start, watch, restart, stop."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from modelyard.local.state.plan import Component, Gate

_BACKOFF_FIRST = 0.5  # seconds
_BACKOFF_MOST = 30.0
_STEADY = 60.0  # seconds after which a process counts as steady, and the back-off starts anew


class State(StrEnum):
    """Where a component is."""

    WAITING = "waiting"
    RUNNING = "running"
    BACKOFF = "backoff"
    DONE = "done"
    STOPPED = "stopped"


@dataclass(slots=True)
class Process:
    """A component's process.

    Args:
        component: what to run.
        prefix: command that enters the component's namespaces, or nothing.
        log: file that its output is added to.
        changed: called after every change of state.
        gate_open: tells whether a gate is open.
    """

    component: Component
    prefix: list[str]
    log: str
    changed: Callable[[], None]
    gate_open: Callable[[Process, Gate], bool]
    state: State = State.WAITING
    pid: int | None = None
    restarts: int = 0
    last_exit: str = ""
    waiting_for: str = ""
    _ended: asyncio.Event = field(default_factory=asyncio.Event)
    _status: int = 0

    async def supervise(self) -> None:
        """Wait for the gates, then keep the component running until cancelled."""
        await self._wait_for_gates()
        failures = 0
        while True:
            started = time.monotonic()
            self._start()
            await self._ended.wait()
            self._note_exit()
            if self.component.once and self._status == 0:
                self._become(State.DONE)
                return
            failures = 1 if time.monotonic() - started > _STEADY else failures + 1
            delay = back_off(failures)
            self._become(State.BACKOFF)
            say(f"{self.component.name} {self.last_exit}; restart {self.restarts + 1} in {delay:.1f} s")
            await asyncio.sleep(delay)
            self.restarts += 1

    def reaped(self, status: int) -> None:
        """Take the wait status of this process (waitpid(2)): it has ended."""
        self._status = status
        self._ended.set()

    async def stop(self) -> None:
        """End the process: SIGTERM, and SIGKILL after the component's time."""
        if self.pid is None:
            self._become(State.STOPPED)
            return
        _kill(self.pid, signal.SIGTERM)
        try:
            await asyncio.wait_for(self._ended.wait(), self.component.stop_seconds)
        except TimeoutError:
            _kill(self.pid, signal.SIGKILL)
            await self._ended.wait()
        self._note_exit()
        self._become(State.STOPPED)

    def _start(self) -> None:
        self._ended.clear()
        self.pid = spawn([*self.prefix, *self.component.argv], self.component, self.log)
        self._become(State.RUNNING)

    def _note_exit(self) -> None:
        self.pid = None
        self.last_exit = describe_exit(self._status)

    def _become(self, state: State) -> None:
        self.state = state
        self.changed()

    async def _wait_for_gates(self) -> None:
        for gate in self.component.gates:
            self.waiting_for = f"{gate.kind} {gate.target}"
            while not self.gate_open(self, gate):
                await asyncio.sleep(0.05)  # a poll: neither a port nor a socket file announces itself
        self.waiting_for = ""


def back_off(failures: int) -> float:
    """Return the seconds to wait before the next start after `failures` quick ends in a row (from 1)."""
    return float(min(_BACKOFF_FIRST * 2 ** (failures - 1), _BACKOFF_MOST))


def describe_exit(status: int) -> str:
    """Return a wait status in words: "exited with code 1", "ended by SIGKILL"."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"exited with code {code}"
    return f"ended by {signal.Signals(-code).name}"


def spawn(argv: list[str], component: Component, log: str) -> int:
    """Start `argv` in a session of its own, its output added to `log`; return its pid.

    posix_spawn, not fork: the supervisor may be busy forwarding, and its pages need not be copied.
    """
    stdin = component.stdin or os.devnull
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(
        argv[0],
        argv,
        component.env,
        file_actions=actions,
        setsid=True,
        setsigmask=[],
        setsigdef=[signal.SIGPIPE],  # Python ignores it; a child must not
    )


def say(text: str) -> None:
    """Write a line to the supervisor's log."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S")
    print(f"{stamp} {text}", file=sys.stderr, flush=True)


def _kill(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
