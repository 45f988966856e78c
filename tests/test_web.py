"""HTTP to hosts outside of the cluster, against a server on this machine."""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from modelyard import web
from modelyard.errors import SourceError
from modelyard.web import ask

asked: list[str] = []
proxied: list[str] = []


class Server(BaseHTTPRequestHandler):
    """A host, and where its full URL is asked for, a proxy."""

    def do_GET(self) -> None:
        asked.append(self.path)
        proxied.append(str(self.headers["Proxy-Authorization"]))
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/here")
            self.end_headers()
        elif self.path == "/cut":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"too little")
        elif self.path == "/loop":
            self.send_response(302)
            self.send_header("Location", "/loop")
            self.end_headers()
        elif self.path == "/busy":
            self.send_response(429)
            self.send_header("Retry-After", "1")
            self.end_headers()
        elif self.path == "/none":
            self.send_error(404)
        else:
            self.send_response(200)
            self.send_header("X-Kind", "answer")
            self.end_headers()
            self.wfile.write(f"{self.headers['Accept']} at {self.path}".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_answer_has_status_headers_in_any_case_and_the_whole_body(host: str) -> None:
    answer = ask("GET", f"http://{host}/x", {"Accept": "all"})
    assert (answer.status, answer.headers["x-kind"], answer.body) == (200, "answer", b"all at /x")


@pytest.mark.parametrize(("path", "status"), [("none", 404), ("busy", 429)])
def test_refusal_is_an_answer(host: str, path: str, status: int) -> None:
    assert ask("GET", f"http://{host}/{path}").status == status


def test_redirect_is_followed(host: str) -> None:
    assert ask("GET", f"http://{host}/moved").body.endswith(b"at /here")


@pytest.mark.parametrize("path", ["cut", "loop"])
def test_answer_that_does_not_end_well_is_an_error_that_names_the_host(host: str, path: str) -> None:
    with pytest.raises(SourceError, match=r"host 127\.0\.0\.1"):
        ask("GET", f"http://{host}/{path}")


def test_answer_that_is_too_large_is_refused(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "LARGEST", 5)
    with pytest.raises(SourceError, match="larger than"):
        ask("GET", f"http://{host}/x")


def test_host_that_nobody_serves_is_said_in_plain_words() -> None:
    with pytest.raises(SourceError, match=r"host 127\.0\.0\.1: .*Connection refused"):
        ask("GET", "http://127.0.0.1:9/x")


def test_users_proxy_is_asked_and_left_out_where_the_user_says_so(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://{host}")
    assert ask("GET", "http://registry.example/x").status == 200
    assert asked == ["http://registry.example/x"]
    monkeypatch.setenv("http_proxy", host.replace("127", "somebody:se%40cret@127"))
    assert ask("GET", "http://registry.example/y").status == 200
    assert proxied[-2:] == ["None", f"Basic {b64encode(b'somebody:se@cret').decode()}"]
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    ask("GET", f"http://{host}/direct")
    assert asked[-1] == "/direct"
