"""HTTP requests to one apiserver, with deadlines, and retries only where a retry is right.

A request is repeated when no answer came, or the answer was 429, always within the patience. What may be sent twice
to the same effect (reads, patches, deletes) is repeated too while the apiserver or its etcd cannot answer just now
(ApiError.momentary), but not where the answer is that of a server behind the apiserver's proxy. Retry-After counts.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlencode

import urllib3

from modelyard.cluster.endpoint import Endpoint
from modelyard.cluster.failures import refusal, unreachable
from modelyard.errors import RequestStoppedError

CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0
# How long a request keeps trying to reach an apiserver that went away.
PATIENCE_SECONDS = 20.0
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0

Query = Mapping[str, str]


class Stream(Protocol):
    """A response whose body is read as it comes."""

    status: int

    def stream(self, amt: int) -> Iterator[bytes]:
        """Yield the body in parts."""

    def read(self) -> bytes:
        """Return the rest of the body."""

    def shutdown(self) -> None:
        """Wake up a reader that waits."""

    def release_conn(self) -> None:
        """Give the connection back."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answered request: its HTTP status, its body, and after how many seconds it asks to be tried again."""

    code: int
    body: bytes
    retry_after: float = 0.0


_JSON = "application/json"


class Transport:
    """Requests to one apiserver; safe to use from several threads.

    Args:
        endpoint: where it is.
        patience: seconds to keep trying when nobody answers.
        headers: sent with every request.
    """

    def __init__(
        self, endpoint: Endpoint, *, patience: float = PATIENCE_SECONDS, headers: Mapping[str, str] | None = None
    ) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self._headers = dict(headers or {})
        self.server = endpoint.server
        self.cancelled = threading.Event()

    def acting_for(self, user: str, group: str) -> Transport:
        """Return the same way with the rights of `user`, a member of `group`: the apiserver's user impersonation.

        https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/
        """
        headers = {"Impersonate-User": user, "Impersonate-Group": group}
        return Transport(self._endpoint, patience=self._patience, headers=headers)

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: object = None,
        content_type: str = _JSON,
        accept: str = _JSON,
        read_seconds: float = READ_SECONDS,
    ) -> Answer:
        """Send a request and return its answer, whatever the HTTP status.

        Raises:
            ClusterUnreachableError: nobody answered for as long as the patience lasts.
        """
        deadline = time.monotonic() + self._patience
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                raw = self._call(method, path, query, body, (content_type, accept), read_seconds)
                answer = Answer(raw.status, raw.read(), _retry_after(raw.headers.get("Retry-After")))
                raw.release_conn()
            except (urllib3.exceptions.HTTPError, OSError) as error:
                if _hopeless(error) or time.monotonic() + pause > deadline:
                    raise unreachable(self.server, error) from error
            else:
                asked = max(pause, answer.retry_after)
                if not _worth_repeating(method, path, answer) or time.monotonic() + asked > deadline:
                    return answer
                pause = asked
            if self.cancelled.wait(pause):
                raise RequestStoppedError(f"cluster {self.server}", "the request was stopped")
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    @contextmanager
    def open(self, path: str, *, query: Query, read_seconds: float) -> Iterator[Stream]:
        """Open a streaming GET; the connection is closed on leaving.

        Raises:
            ClusterUnreachableError: nobody answers.
            ApiError: the apiserver refuses.
        """
        try:
            raw = self._call("GET", path, query, None, (_JSON, _JSON), read_seconds)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise unreachable(self.server, error) from error
        try:
            if raw.status >= 400:
                raise refusal(f"watch {path}", raw.status, raw.read())
            yield raw
        finally:
            raw.close()

    def _call(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: object,
        media: tuple[str, str],
        read_seconds: float,
    ) -> urllib3.BaseHTTPResponse:
        content_type, accept = media
        # The client's own serialiser walks the whole body in Python; these are JSON already.
        headers = {"Accept": accept, "User-Agent": "modelyard", **self._headers}
        encoded: bytes | None = None
        if body is not None:
            headers["Content-Type"] = content_type
            encoded = json.dumps(body, separators=(",", ":")).encode()
        parameters: list[tuple[str, str]] = list((query or {}).items())
        self._endpoint.authorize(headers, parameters)
        return self._endpoint.pool.request(
            method,
            self.server + path + (f"?{urlencode(parameters)}" if parameters else ""),
            body=encoded,
            headers=headers,
            preload_content=False,
            retries=False,
            timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=read_seconds),
        )


def _worth_repeating(method: str, path: str, answer: Answer) -> bool:
    if answer.code < 400:
        return False
    error = refusal("", answer.code, answer.body)
    if answer.code == 429 and error.momentary:  # turned away before anything was done
        return True
    return method != "POST" and "/proxy/" not in path and error.momentary


def _retry_after(value: str | None) -> float:
    """Return the seconds of a Retry-After; the apiserver never sends a date."""
    return float(value) if value and value.isdecimal() else 0.0


def _hopeless(error: BaseException) -> bool:
    """Tell whether trying again cannot help: the certificate is wrong. A TLS connection cut short is not that."""
    return "CERTIFICATE_VERIFY_FAILED" in repr(error)
