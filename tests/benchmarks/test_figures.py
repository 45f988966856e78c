"""What the benchmarks make of their measurements."""

from __future__ import annotations

import json

import pytest

from benchmarks.cell import Cell, Series, to_json
from benchmarks.page import LOSING, latest, replaced, section
from benchmarks.report import machine, rows
from benchmarks.timeline import steps


def _cell(ours: float, peer: float, goal: float | None = None) -> Cell:
    return Cell("a/b", "s", Series("ours", (ours, ours + 1, ours - 1)), (Series("theirs", (peer,)),), goal)


def test_ratio_is_ours_divided_by_the_peers_median() -> None:
    cell = _cell(6.0, 3.0)
    assert cell.ratio(cell.peers[0]) == 2.0
    assert to_json(cell)["peers"] == [{"what": "theirs", "median": 3.0, "values": [3.0], "ratio": 2.0}]


@pytest.mark.parametrize(
    ("ours", "peer", "goal", "losing"),
    [(2.0, 3.0, None, False), (4.0, 3.0, None, True), (2.0, 3.0, 1.5, True), (2.0, 3.0, 2.0, False)],
)
def test_a_cell_loses_to_a_better_peer_or_a_missed_goal(
    ours: float, peer: float, goal: float | None, losing: bool
) -> None:
    cell = _cell(ours, peer, goal)
    assert cell.losing is losing
    assert any(row[-1] for row in rows(cell)) is losing


@pytest.mark.parametrize("goal", [None, 1.0])
def test_page_marks_exactly_what_loses(goal: float | None) -> None:
    result = {
        "before": machine(),
        "after": machine(),
        "cells": [to_json(_cell(2.0, 3.0, goal)), to_json(_cell(2.0, 3.0))],
    }
    text = section(json.loads(json.dumps(result)))
    assert text.count(LOSING) == (0 if goal is None else 1)


def test_page_names_the_largest_parts_first() -> None:
    cell = Cell("a/b", "MiB", Series("memory", (3.0,)), parts={"small": 1.0, "large": 2.0})
    assert section({"before": machine(), "after": machine(), "cells": [to_json(cell)]}).endswith(
        "- memory, in MiB: large 2, small 1"
    )


def test_a_cell_that_was_measured_again_counts_from_the_later_run() -> None:
    old = {"before": {"at": "2026-01-01"}, "cells": [{"name": "a", "is": 1}, {"name": "b", "is": 1}]}
    new = {"before": {"at": "2026-01-02"}, "cells": [{"name": "a", "is": 2}]}
    assert [result["cells"] for result in latest([old, new])] == [[{"name": "a", "is": 2}], [{"name": "b", "is": 1}]]
    assert len(latest([{**new, "before": {"at": "2025"}}, new])) == 1


def test_page_keeps_what_stands_around_the_table() -> None:
    page = "a\n<!-- begin warm: python -m benchmarks.page -->\nold\n<!-- end warm -->\nb\n"
    assert replaced(page, "warm", "new") == page.replace("old", "new")


def test_page_without_a_place_for_the_table_is_an_error() -> None:
    with pytest.raises(LookupError, match="0 places"):
        replaced("a", "warm", "new")


def test_steps_begin_their_own_seconds_before_they_end() -> None:
    events = [
        {"t": 100.5, "event": "StepStarted", "key": "build:kueue", "title": "compile kueue"},
        {"t": 101.0, "event": "StepProgress", "key": "build:kueue", "detail": "x"},
        {"t": 104.0, "event": "StepDone", "key": "build:kueue", "seconds": 3.0, "detail": ""},
        {"t": 105.0, "event": "StepFailed", "key": "build:other", "seconds": 3.0, "reason": "x"},
    ]
    [step] = steps(map(json.dumps, events), 100.0)
    assert (step.lane, step.title, step.begin, step.end) == ("build", "compile kueue", 1.0, 4.0)
