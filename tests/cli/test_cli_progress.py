"""Printers: one plain line a step with its time off a terminal; events as JSON where asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from modelyard.cli.options import Duration
from modelyard.cli.progress import PlainPrinter, printing, recorded, span
from modelyard.events import Note, StepDone, StepFailed, StepProgress, StepStarted, discard


def test_off_a_terminal_each_step_is_one_line_with_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    emit = PlainPrinter()
    emit(StepStarted("a", "build kueue"))
    emit(StepProgress("a", "linking"))
    emit(StepDone("a", 12.34, "86 MB"))
    emit(StepStarted("b", "start"))
    emit(StepFailed("b", 0.5, "no memory"))
    emit(Note("kept something"))
    out, err = capsys.readouterr()
    assert out == ""  # stdout is for results
    assert err.splitlines() == [
        "ok    build kueue (12.3 s): 86 MB",
        "FAIL  start (0.5 s): no memory",
        "note  kept something",
    ]


def test_off_a_terminal_a_wait_says_each_thing_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modelyard.cli.progress.PLAIN_PROGRESS_SECONDS", 0.0)
    emit = PlainPrinter()
    emit(StepStarted("a", "kserve"))
    for detail in ["webhook: no answer"] * 3 + ["webhook: 503", "webhook: no answer"]:
        emit(StepProgress("a", detail))
    assert capsys.readouterr().err.splitlines() == [
        "  ... kserve: webhook: no answer",
        "  ... kserve: webhook: 503",
    ]


def test_no_escape_codes_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with printing() as emit:
        emit(StepStarted("a", "x"))
        emit(StepDone("a", 1.0))
    assert "\x1b" not in capsys.readouterr().err


def test_events_are_recorded_one_json_line_each(tmp_path: Path) -> None:
    file = tmp_path / "events"
    with recorded(discard, str(file)) as emit:
        emit(StepStarted("a", "x"))
        emit(StepDone("a", 1.5, "y"))
    first, second = (json.loads(line) for line in file.read_text().splitlines())
    assert (first["event"], first["key"], first["title"]) == ("StepStarted", "a", "x")
    assert (second["event"], second["seconds"], second["detail"]) == ("StepDone", 1.5, "y")
    assert second["t"] >= first["t"]


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("5m", 300), ("1h", 3600), ("0.5m", 30)])
def test_time_spans(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


def test_seconds_for_people() -> None:
    assert (span(3.14), span(125)) == ("3.1 s", "2 min 05 s")
