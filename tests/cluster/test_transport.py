"""What an apiserver says in a bad moment is asked again; what it says of the request itself is not.

Kubernetes is not mocked here: no object is made or read. A real apiserver cannot be had to say these on demand.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from modelyard.cluster import ApiError, Session, Watcher, connect
from modelyard.objects import GroupKind, ObjectRef

BUSY = {"Retry-After": "1"}
CONFIG_MAP = ObjectRef("", "ConfigMap", "n", "x")
WEBHOOK = 'Internal error occurred: failed calling webhook "a.example.test": context deadline exceeded'
UNCONVERTED = (
    "storage is (re)initializing: failed to list a/v2, Kind=B: conversion webhook for a/v1, Kind=B failed: EOF"
)
RESOURCE = {"resource": "configmaps", "scope": "Namespaced", "verbs": ["list"], "responseKind": {"kind": "ConfigMap"}}
GROUP = {"metadata": {"name": ""}, "versions": [{"version": "v1", "resources": [RESOURCE]}]}


class Server(ThreadingHTTPServer):
    """Answers requests below /api/v1 as it is told, then well.

    Attributes:
        script: the answers to come: code, reason, message, headers.
        asked: the methods and paths asked below /api/v1 so far.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[tuple[int, str, str, dict[str, str]]] = []
        self.asked: list[str] = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.path.startswith("/api/v1"):
            self.send(200, {"gitVersion": "v1", "items": [GROUP] if self.path == "/api" else []}, {})
            return
        self.server.asked.append(f"{self.command} {self.path.partition('?')[0]}")
        if self.server.script:
            code, reason, message, headers = self.server.script.pop(0)
            self.send(code, {"kind": "Status", "reason": reason, "message": message}, headers)
        else:
            metadata = {"name": "x", "namespace": "n", "resourceVersion": "1"}
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
            self.send(200, {"type": "ADDED", "object": body} if "watch=1" in self.path else body, {})

    do_GET = do_PATCH = do_POST = do_DELETE = answer  # noqa: N815 (the names are http.server's)

    def send(self, code: int, body: object, headers: dict[str, str]) -> None:
        encoded = json.dumps(body).encode() + b"\n"
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(encoded))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def session_of(server: Server, folder: Path, patience: float = 60) -> Session:
    file = folder / "kubeconfig"
    content = {
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "users": [{"name": "u", "user": {"token": "x"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    }
    file.write_text(json.dumps(content))
    return connect(file, patience=patience)


MOMENTARY = [
    (500, "", "etcdserver: request timed out", {}),
    (500, "", "etcdserver: leader changed", {}),
    (500, "ServerTimeout", "The  operation against  could not be completed at this time", BUSY),
    (503, "ServiceUnavailable", "apiserver is shutting down", {}),
    (504, "Timeout", "request did not complete within requested timeout", {}),
    (429, "TooManyRequests", "please try again later", {}),
]


@pytest.mark.parametrize("answer", MOMENTARY, ids=lambda answer: f"{answer[0]} {answer[1]}")
def test_a_bad_moment_is_sat_out(server: Server, tmp_path: Path, answer: tuple[int, str, str, dict[str, str]]) -> None:
    session = session_of(server, tmp_path)
    server.script = [answer] * 3
    session.get(CONFIG_MAP)
    session.patch(CONFIG_MAP, {})
    session.delete(CONFIG_MAP)
    assert [each.split()[0] for each in server.asked] == ["GET"] * 4 + ["PATCH", "DELETE"]


@pytest.mark.parametrize(
    "answer",
    [
        (500, "InternalError", WEBHOOK, {}),
        (500, "", "rpc error", {}),
        (409, "Conflict", "etcdserver: no", {}),
    ],
)
def test_what_is_said_of_the_request_itself_is_said_once(
    server: Server, tmp_path: Path, answer: tuple[int, str, str, dict[str, str]]
) -> None:
    session = session_of(server, tmp_path)
    server.script = [answer]
    with pytest.raises(ApiError, match="fix the object"):
        session.patch(CONFIG_MAP, {})
    assert len(server.asked) == 1


@pytest.mark.parametrize("code", [429, 500])
def test_a_conversion_webhook_that_is_down_is_told_at_once(server: Server, tmp_path: Path, code: int) -> None:
    session = session_of(server, tmp_path)
    server.script = [(code, "TooManyRequests", UNCONVERTED, {})]
    with pytest.raises(ApiError, match="the controller that serves this conversion webhook"):
        session.get(CONFIG_MAP)
    assert len(server.asked) == 1


def test_a_create_that_may_have_happened_is_not_sent_again(server: Server, tmp_path: Path) -> None:
    session = session_of(server, tmp_path)
    server.script = [(504, "Timeout", "request did not complete", {})]
    with pytest.raises(ApiError):
        session.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "n"}})
    assert len(server.asked) == 1


def test_a_server_behind_the_proxy_may_say_503(server: Server, tmp_path: Path) -> None:
    session = session_of(server, tmp_path)
    server.script = [(503, "ServiceUnavailable", "no endpoints available", {})]
    assert session.transport.send("GET", "/api/v1/namespaces/n/pods/p:80/proxy/v1").code == 503


def test_a_pause_that_is_asked_for_is_kept_and_none_outlasts_the_patience(server: Server, tmp_path: Path) -> None:
    session = session_of(server, tmp_path, patience=30)
    pauses: list[float] = []
    session.transport.cancelled.wait = pauses.append  # type: ignore[assignment,method-assign]
    server.script = [(503, "", "", {"Retry-After": "7"}), (503, "", "", {"Retry-After": "3600"})]
    with pytest.raises(ApiError, match="readyz"):
        session.get(CONFIG_MAP)
    assert pauses == [7]


def test_a_watch_that_meets_a_bad_moment_goes_on(server: Server, tmp_path: Path) -> None:
    session = session_of(server, tmp_path)
    with Watcher(session) as watcher:
        session.discovery.all()
        server.script = [(200, "", "", {}), (500, "", "etcdserver: leader changed", {})]
        watcher.watch(GroupKind("", "ConfigMap"))
        seen = watcher.next(60)
    assert seen is not None
    assert seen.ref.name == "x"
