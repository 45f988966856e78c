"""Waiting for images ends when it is told to, whether or not the images ever come."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from pathlib import Path

import pytest

from modelyard.apply.run import StoppedError
from modelyard.platform.embedded import loading


@pytest.fixture(autouse=True)
def _no_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "image_digests", lambda name: {})


def test_waiting_for_an_image_ends_when_cancelled() -> None:
    cancelled = threading.Event()
    loader = loading.Loader("none", cancelled)
    never: Future[Path] = Future()
    threading.Timer(0.2, cancelled.set).start()
    with pytest.raises(StoppedError, match="goes on where it was"):
        loader.load({"image": never})


def test_an_image_whose_build_was_dropped_counts_as_stopped() -> None:
    dropped: Future[Path] = Future()
    dropped.cancel()
    with pytest.raises(StoppedError):
        loading.Loader("none", threading.Event()).load({"image": dropped})
