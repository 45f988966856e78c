"""Keep the pods of one component out of the way of another's webhook that does not answer yet.

A webhook that intercepts Pods or Deployments refuses them all from the moment its configuration is there
until its server answers, and a controller whose pod was refused tries again only after a growing pause.
So creating workloads is shared, and bringing such a webhook up is exclusive.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CHECK_SECONDS = 0.5


class Gate:
    """Many may create workloads, or one may bring up a webhook that would hold them up."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sharing = 0
        self._waiting = 0
        self._alone = False

    @contextmanager
    def shared(self, check: Callable[[], None]) -> Iterator[None]:
        """Enter while nobody is alone or waits to be; `check` is called while waiting and may raise."""
        with self._changed:
            self._wait(lambda: not self._alone and not self._waiting, check)
            self._sharing += 1
        try:
            yield
        finally:
            with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self, check: Callable[[], None]) -> Iterator[None]:
        """Enter once nobody else is inside; `check` is called while waiting and may raise."""
        with self._changed:
            self._waiting += 1
            try:
                self._wait(lambda: not self._alone and not self._sharing, check)
                self._alone = True
            finally:
                self._waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()

    def _wait(self, free: Callable[[], bool], check: Callable[[], None]) -> None:
        while not self._changed.wait_for(free, timeout=CHECK_SECONDS):
            check()
