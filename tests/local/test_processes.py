"""Supervised processes, with real ones."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.local.state.plan import Component, Gate
from modelyard.local.supervisor import process as process_module
from modelyard.local.supervisor.forward import forward
from modelyard.local.supervisor.process import Process, State, back_off, describe_exit


@given(st.integers(1, 200))
def test_back_off_grows_to_half_a_minute(failures: int) -> None:
    assert 0.5 <= back_off(failures) <= back_off(failures + 1) <= 30.0


def test_exits_are_said_in_words() -> None:
    assert describe_exit(0) == "exited with code 0"
    assert describe_exit(3 << 8) == "exited with code 3"
    assert describe_exit(signal.SIGKILL) == "ended by SIGKILL"


def make(
    tmp_path: Path, script: str, *, gate_open: Callable[[Process, Gate], bool] | None = None, **more: object
) -> Process:
    argv = [sys.executable, "-S", "-c", script]
    component = Component("it", argv, env={"PATH": "/usr/bin"}, **more)  # type: ignore[arg-type]
    return Process(component, [], str(tmp_path / "it.log"), lambda: None, gate_open or (lambda *_: True))


async def supervised(process: Process, until: Callable[[], bool]) -> None:
    """Supervise `process` as the supervisor does, reaping it alone, until `until` or half a minute."""
    task = asyncio.create_task(process.supervise())
    async with asyncio.timeout(30):
        while not until():
            if process.pid is not None:
                pid, status = os.waitpid(process.pid, os.WNOHANG)
                if pid:
                    process.reaped(status)
            await asyncio.sleep(0.01)
    task.cancel()
    if process.pid is not None:
        os.kill(process.pid, signal.SIGKILL)
        os.waitpid(process.pid, 0)


def run(main: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(main())  # type: ignore[arg-type]


def test_ended_process_is_started_again_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "_BACKOFF_FIRST", 0.01)

    async def main() -> None:
        process = make(tmp_path, "print('once'); raise SystemExit(3)")
        await supervised(process, lambda: process.restarts >= 2 and process.state is State.BACKOFF)
        assert process.last_exit == "exited with code 3"
        assert (tmp_path / "it.log").read_text() == "once\n" * (process.restarts + 1)

    run(main)


def test_one_time_command_is_tried_until_it_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "_BACKOFF_FIRST", 0.01)
    flag = tmp_path / "flag"
    script = f"import pathlib; p = pathlib.Path({str(flag)!r}); ok = p.exists(); p.touch(); raise SystemExit(not ok)"

    async def main() -> None:
        process = make(tmp_path, script, once=True)
        await supervised(process, lambda: process.state is State.DONE)
        assert process.restarts == 1

    run(main)


def test_nothing_starts_before_its_gate_opens(tmp_path: Path) -> None:
    asked = []

    def gate_open(process: Process, gate: Gate) -> bool:
        assert process.pid is None
        asked.append(gate.target)
        return len(asked) > 2

    async def main() -> None:
        process = make(tmp_path, "import time; time.sleep(60)", gate_open=gate_open, gates=[Gate("tcp", "there")])
        await supervised(process, lambda: process.pid is not None)
        assert asked == ["there"] * 3

    run(main)


def test_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    script = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"

    async def main() -> None:
        process = make(tmp_path, script, stop_seconds=0.2)
        task = asyncio.create_task(process.supervise())
        async with asyncio.timeout(30):
            while not (tmp_path / "it.log").exists() or "deaf" not in (tmp_path / "it.log").read_text():
                await asyncio.sleep(0.01)
            pid = process.pid
            assert pid is not None
            task.cancel()
            stopping = asyncio.create_task(process.stop())
            status = await asyncio.to_thread(lambda: os.waitpid(pid, 0)[1])
            process.reaped(status)
            await stopping
        assert (process.state, process.last_exit) == (State.STOPPED, "ended by SIGKILL")

    run(main)


@pytest.mark.parametrize("size", [0, 1, 5_000_000])
def test_forwarder_passes_all_bytes_both_ways_and_the_end_of_each(size: int) -> None:
    payload = os.urandom(size)

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.read())  # all of it, so the end of the request must have come through
        await writer.drain()
        writer.close()

    async def main() -> None:
        upstream = await asyncio.start_server(echo, "127.0.0.1", 0)
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server = await forward(listener, *upstream.sockets[0].getsockname())
        async with asyncio.timeout(30), server, upstream:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(payload)
            writer.write_eof()
            assert await reader.read() == payload
            writer.close()

    run(main)


def test_forwarder_closes_when_nothing_is_behind_it() -> None:
    async def main() -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        free = socket.create_server(("127.0.0.1", 0))
        nobody = free.getsockname()[1]
        free.close()
        server = await forward(listener, "127.0.0.1", nobody)
        async with asyncio.timeout(30), server:
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
            assert await reader.read() == b""
            writer.close()

    run(main)
