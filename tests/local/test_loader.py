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


def test_what_nodes_have_is_read_when_it_is_first_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(loading, "image_digests", lambda name: asked.append(name) or {})
    loader = loading.Loader("none", threading.Event())
    assert asked == []
    never: Future[Path] = Future()
    assert loader.lacks({"image": never})
    done: Future[Path] = Future()
    done.set_result(Path("archive"))
    monkeypatch.setattr(loading, "manifest_digest", lambda archive: "sha256:x")
    assert loader.lacks({"image": done}) and loader.lacks({"image": done})
    assert asked == ["none"]


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
