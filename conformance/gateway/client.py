"""A client of a route, in a pod of its own: asks at a given rate, over a new connection each time, and reports.

Its one argument is a JSON object: url, host, body (of the request), versions (answer -> name of the version), sample
(how many answers of each route are counted by version), rate (requests a second to begin with). A route says which one
it is by the response header x-route. Every fifth request carries the header x-model-version: v2.

GET :8000/report gives what was seen so far as JSON; GET :8000/rate/N changes the rate. It begins to count with the
first answer: until then the route is not there yet. A request that gets no right answer from then on is a failure.
"""

from __future__ import annotations

import json
import sys
import threading
import time
import urllib.request
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORKERS = 8
MARKED_EVERY = 5
MARK = {"x-model-version": "v2"}
TIMEOUT_SECONDS = 10
SHOWN_FAILURES = 10


class Client:
    """Asks, and counts.

    Args:
        settings: the program's argument.
    """

    def __init__(self, settings: Mapping[str, object]) -> None:
        self._url, self._host = str(settings["url"]), str(settings["host"])
        self._body = json.dumps(settings["body"]).encode()
        versions = settings["versions"]
        assert isinstance(versions, dict)
        self._versions = {round(float(answer), 3): str(name) for answer, name in versions.items()}
        self._sample, self._rate = int(str(settings["sample"])), float(str(settings["rate"]))
        self._lock = threading.Lock()
        self._next, self._sent, self._answered, self._failed = 0.0, 0, 0, 0
        self._failures: list[str] = []
        self._routes: dict[str, dict[str, dict[str, int]]] = {}

    def wait(self) -> None:
        """Ask until there is a first answer."""
        while True:
            try:
                self._ask(marked=False)
                return
            except (OSError, ValueError, KeyError):
                time.sleep(0.2)

    def work(self) -> None:
        """Ask for ever."""
        while True:
            marked = self._slot()
            try:
                route, version = self._ask(marked=marked)
            except (OSError, ValueError, KeyError) as error:
                self._fail(f"{type(error).__name__}: {error}")
            else:
                self._count(route, "marked" if marked else "plain", version)

    def set_rate(self, rate: float) -> None:
        """Ask as often as that from now on, a second."""
        with self._lock:
            self._rate, self._next = rate, time.monotonic()

    def report(self) -> dict[str, object]:
        """Return what was seen."""
        with self._lock:
            return {
                "answered": self._answered,
                "failed": self._failed,
                "failures": list(self._failures),
                "routes": self._routes,
            }

    def _slot(self) -> bool:
        """Wait for the turn of one request; tell whether it is one with the mark."""
        with self._lock:
            at = max(self._next, time.monotonic())
            self._next = at + 1 / self._rate
            self._sent += 1
            marked = self._sent % MARKED_EVERY == 0
        time.sleep(max(0.0, at - time.monotonic()))
        return marked

    def _ask(self, *, marked: bool) -> tuple[str, str]:
        headers = {"Host": self._host, "Content-Type": "application/json", **(MARK if marked else {})}
        request = urllib.request.Request(self._url, self._body, headers)
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            answer = float(json.load(response)["predictions"][0][0])
            return str(response.headers["x-route"]), self._versions[round(answer, 3)]

    def _count(self, route: str, asked: str, version: str) -> None:
        with self._lock:
            self._answered += 1
            counts = self._routes.setdefault(route, {"plain": {}, "marked": {}})
            if sum(number for each in counts.values() for number in each.values()) < self._sample:
                counts[asked][version] = counts[asked].get(version, 0) + 1

    def _fail(self, what: str) -> None:
        with self._lock:
            self._failed += 1
            if len(self._failures) < SHOWN_FAILURES:
                self._failures.append(f"{time.strftime('%H:%M:%S')} {what}")


def main(settings: Mapping[str, object]) -> None:
    """Wait for the route, then ask and report until killed."""
    client = Client(settings)
    client.wait()
    for _ in range(WORKERS):
        threading.Thread(target=client.work, daemon=True).start()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/rate/"):
                client.set_rate(float(self.path.removeprefix("/rate/")))
            content = json.dumps(client.report()).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    ThreadingHTTPServer(("", 8000), Handler).serve_forever()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
