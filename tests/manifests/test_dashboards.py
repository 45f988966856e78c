"""Dashboards: valid JSON, found again by one uid each; panels that ask Prometheus something and do not overlap."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest

from modelyard.objects import Object, mapping, mappings, number, text
from modelyard.paths import data_root

FOLDER = data_root() / "manifests/observability/prometheus/dashboards"
BOARDS = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
WIDTH = 24
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def test_there_is_one_for_each_subject() -> None:
    assert list(BOARDS) == ["gpus", "network", "queue", "serving", "training"]


def test_uids_are_unique() -> None:
    assert [uid for uid, times in Counter(text(board, "uid") for board in BOARDS.values()).items() if times > 1] == []


@pytest.mark.parametrize("board", BOARDS.values(), ids=list(BOARDS))
def test_grafana_can_show_it(board: Object) -> None:
    """The fields of Grafana's schema without which a dashboard or a panel does not appear."""
    assert text(board, "uid") and text(board, "title") and board["schemaVersion"] == 39
    [variable] = mappings(board, "templating", "list")
    assert (text(variable, "name"), text(variable, "type"), text(variable, "query")) == (
        "datasource",
        "datasource",
        "prometheus",
    )
    panels = mappings(board, "panels")
    assert len({panel["id"] for panel in panels}) == len(panels)


@pytest.mark.parametrize("board", BOARDS.values(), ids=list(BOARDS))
def test_every_panel_asks_prometheus(board: Object) -> None:
    for panel in mappings(board, "panels"):
        targets = mappings(panel, "targets")
        assert panel["datasource"] == SOURCE and targets, panel
        assert all(text(each, "expr") and each["datasource"] == SOURCE for each in targets), panel


@pytest.mark.parametrize("board", BOARDS.values(), ids=list(BOARDS))
def test_panels_lie_beside_each_other(board: Object) -> None:
    """Each cell of Grafana's grid, 24 wide, is at most one panel's; a gap would be closed upwards, out of order."""
    cells = [cell for panel in mappings(board, "panels") for cell in _cells(mapping(panel, "gridPos"))]
    assert max(x for x, _ in cells) < WIDTH
    assert Counter(cells).keys() == set(product(range(WIDTH), range(len(cells) // WIDTH)))
    assert len(set(cells)) == len(cells)


@pytest.mark.parametrize("board", BOARDS.values(), ids=list(BOARDS))
def test_a_panel_says_what_it_shows_and_in_which_unit(board: Object) -> None:
    for panel in mappings(board, "panels"):
        assert text(panel, "title") and text(panel, "description"), panel["id"]
        assert text(panel, "fieldConfig", "defaults", "unit"), text(panel, "title")


@pytest.mark.parametrize("board", BOARDS.values(), ids=list(BOARDS))
def test_a_series_is_called_by_labels_and_long_legends_scroll(board: Object) -> None:
    """A legend below a graph leaves no room for it where there is a line for each pod."""
    for panel in mappings(board, "panels"):
        formats = [text(target, "legendFormat") for target in mappings(panel, "targets")]
        assert all("{{" in each for each in formats), text(panel, "title")
        if any("topk(" in text(target, "expr") for target in mappings(panel, "targets")):
            assert text(panel, "options", "legend", "placement") == "right", text(panel, "title")


def test_the_gpu_operators_exporter_reports_every_series_that_is_asked_for() -> None:
    """The exporter refuses a list with a line that has not three fields, and its default has not all of them."""
    file = data_root() / "manifests/cluster/gpu-operator/dcgm-metrics.csv"
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = [[field.strip() for field in row] for row in csv.reader(lines)]
    assert all(len(row) == 3 and row[1] in ("counter", "gauge") for row in rows)
    asking = [*FOLDER.glob("*.json"), *(FOLDER.parent / "rules").glob("*.yaml")]
    asked = {name for path in asking for name in re.findall(r"\bDCGM_FI_\w+", path.read_text(encoding="utf-8"))}
    assert asked and asked <= {row[0] for row in rows}


def _cells(place: Object) -> Iterator[tuple[int, int]]:
    x, y = number(place, "x"), number(place, "y")
    yield from product(range(x, x + number(place, "w")), range(y, y + number(place, "h")))
