"""An apiserver that goes away for good in the middle of an install: a way to the shared cluster that is cut."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from apply_helpers import Events, deployment, namespace, rendered

from modelyard.apply import install
from modelyard.cluster import Session, connect
from modelyard.errors import ClusterUnreachableError
from modelyard.events import StepDone, StepFailed, StepProgress
from modelyard.local import ClusterInfo


class Way:
    """Passes connections on to the apiserver until it is cut."""

    def __init__(self, kubeconfig: Path) -> None:
        self._document = json.loads(kubeconfig.read_text())
        self._port = urlsplit(self._document["clusters"][0]["cluster"]["server"]).port
        self._open: set[asyncio.StreamWriter] = set()
        self._ready = threading.Event()
        self.port = 0
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(),), daemon=True)
        self._thread.start()
        assert self._ready.wait(30)

    def kubeconfig(self, path: Path) -> Path:
        self._document["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{self.port}"
        path.write_text(json.dumps(self._document))
        return path

    def cut(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._cut.set)
            self._thread.join(30)

    async def _serve(self) -> None:
        self._loop, self._cut = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._cut.wait()
        server.close()
        for writer in self._open:
            writer.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._open |= {writer, far_writer}
        await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.close()


@pytest.fixture
def way(cluster: ClusterInfo) -> Iterator[Way]:
    made = Way(cluster.kubeconfig)
    yield made
    made.cut()


def test_an_install_ends_with_one_message_and_begins_nothing_more(
    session: Session, way: Way, tmp_path: Path, events: Events, own: str
) -> None:
    through = connect(way.kubeconfig(tmp_path / "kubeconfig"), patience=1.0)
    never = "test.modelyard.dev/no-such-image:1"
    items = [rendered(own, namespace(own))]
    items += [
        rendered(f"{own}-{each}", deployment(own, each, image=never), requires=(own,)) for each in ("a", "b", "c")
    ]
    waiting: set[str] = set()

    def cut_when_all_wait(event: object) -> None:
        events(event)  # type: ignore[arg-type]
        if isinstance(event, StepProgress) and event.detail.startswith("Deployment"):
            waiting.add(event.key)
        if len(waiting) == 3:
            way.cut()

    with pytest.raises(ClusterUnreachableError, match="does not answer"):
        install(through, items, emit=cut_when_all_wait, timeout=600)
    assert len(events.of(StepDone)) == 1
    assert len(events.of(StepFailed)) == 1
