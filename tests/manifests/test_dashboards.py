"""Dashboards: valid JSON, found again by one uid each, and every panel asks Prometheus something."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from modelyard.objects import Object, mapping, mappings, text
from modelyard.paths import data_root

FOLDER = data_root() / "manifests/observability/prometheus/dashboards"
BOARDS = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
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
    places = [mapping(panel, "gridPos") for panel in panels]
    assert len({(place["x"], place["y"]) for place in places}) == len(places)


@pytest.mark.parametrize("board", BOARDS.values(), ids=list(BOARDS))
def test_every_panel_asks_prometheus(board: Object) -> None:
    for panel in mappings(board, "panels"):
        targets = mappings(panel, "targets")
        assert panel["datasource"] == SOURCE and targets, panel
        assert all(text(each, "expr") and each["datasource"] == SOURCE for each in targets), panel
