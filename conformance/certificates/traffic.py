"""Requests that a webhook must answer, one after another, in a thread of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from modelyard.errors import ModelyardError

PAUSE_SECONDS = 0.1


class Traffic:
    """Sends one request after another while inside `with`; a failure ends nothing and is kept.

    Args:
        request: sends one, and returns what is wrong with the answer; empty: nothing.
    """

    def __init__(self, request: Callable[[], str]) -> None:
        self._request = request
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="traffic", daemon=True)
        self.answered = 0
        self.failures: list[str] = []

    def __enter__(self) -> Traffic:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(PAUSE_SECONDS):
            try:
                wrong = self._request()
            except ModelyardError as error:
                wrong = str(error)
            if wrong:
                self.failures.append(wrong)
            else:
                self.answered += 1
