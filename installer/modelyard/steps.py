"""A step as a `with` block: started, and then done or failed with its time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from modelyard.events import Emit, StepDone, StepFailed, StepStarted


@contextmanager
def step(emit: Emit, key: str, title: str) -> Iterator[Callable[[str], None]]:
    """Emit a step's beginning and end around a block; the block may call what it is given to say what it did."""
    details = [""]
    emit(StepStarted(key, title))
    began = time.monotonic()
    try:
        yield lambda detail: details.__setitem__(0, detail)
    except BaseException as error:
        emit(StepFailed(key, time.monotonic() - began, str(error) or type(error).__name__))
        raise
    emit(StepDone(key, time.monotonic() - began, details[0]))
