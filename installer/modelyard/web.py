"""HTTP to the world outside of the cluster: by the user's proxies, with deadlines, and what the machine trusts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3

from modelyard.errors import SourceError

SECONDS = 30.0
# Nothing is asked twice.
_REDIRECTS = urllib3.Retry(5, connect=0, read=0, status=0, other=0, respect_retry_after_header=False)
LARGEST = 16 << 20  # bytes; of an answer that is read whole


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host answered.

    Args:
        status: the HTTP status; any.
        reason: its words.
        headers: by name, in any case.
        body: whole.
    """

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


def ask(method: str, url: str, headers: Mapping[str, str] | None = None) -> Answer:
    """Send a request without a body; follow redirects; return the answer, whatever its status.

    A name and password that stand in the environment for a proxy are used; those of a redirect's other host are not.

    Raises:
        SourceError: none came in time, or it is larger than `LARGEST`.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxy = None if proxy_bypass(parts.netloc.rpartition("@")[2]) else getproxies().get(parts.scheme)
    try:
        answer = _pool(proxy).request(
            method, url, headers=dict(headers or {}), timeout=SECONDS, retries=_REDIRECTS,
            preload_content=False,
        )  # fmt: skip
        try:
            body = answer.read(LARGEST + 1)
        finally:
            answer.release_conn()
    except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        raise SourceError(f"host {host}", _reason(error)) from error
    if len(body) > LARGEST:
        raise SourceError(f"host {host}", f"its answer is larger than {LARGEST >> 20} MiB")
    return Answer(answer.status, answer.reason or "", answer.headers, body)


@cache
def _pool(proxy: str | None) -> urllib3.PoolManager:
    if proxy is None:
        return urllib3.PoolManager()
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    who, _, where = parts.netloc.rpartition("@")
    headers = urllib3.make_headers(proxy_basic_auth=unquote(who)) if who else None
    return urllib3.ProxyManager(f"{parts.scheme}://{where}", proxy_headers=headers)


def _reason(error: Exception) -> str:
    """Return the innermost words of an error that urllib3 wraps."""
    while isinstance(reason := getattr(error, "reason", None), Exception):
        error = reason
    return str(error)
