"""Flux's three CEL expressions: inProgress before failed before current, else in progress."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.catalog import load
from modelyard.errors import CatalogError
from modelyard.objects import GroupKind
from modelyard.paths import data_root
from modelyard.readiness import Expressions, Status, assess, rules_from
from modelyard.readiness.expressions import evaluate

PHASE = Expressions(
    current="status.phase == 'Up'", in_progress="status.phase == 'Coming'", failed="status.phase in ['Dead']"
)


@given(st.sampled_from(["Up", "Coming", "Dead", "Other", ""]))
def test_the_first_expression_that_is_true_decides(phase: str) -> None:
    expected = {"Up": Status.CURRENT, "Dead": Status.FAILED}.get(phase, Status.IN_PROGRESS)
    assert evaluate({"status": {"phase": phase}}, PHASE).status is expected


def test_in_progress_wins_over_current() -> None:
    both = Expressions(current="true", in_progress="true")
    assert evaluate({}, both).status is Status.IN_PROGRESS


@pytest.mark.parametrize("obj", [{}, {"status": {}}, {"status": None}])
def test_a_field_that_is_not_there_yet_is_no_error(obj: dict[str, object]) -> None:
    assert evaluate(obj, PHASE).status is Status.IN_PROGRESS


JUDGE = "from modelyard.readiness.expressions import *; print(evaluate({}, Expressions('1 < 2')).status.name)"


def judged(cache: Path) -> str:
    """Judge an object in a process of its own, for the parser is made once a process."""
    done = subprocess.run(
        [sys.executable, "-c", JUDGE],
        env=os.environ | {"MODELYARD_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip() + done.stderr


def test_the_parser_is_made_once_a_machine_and_anew_where_its_file_is_damaged(tmp_path: Path) -> None:
    kept = tmp_path / "new" / "cel-parser"
    assert judged(kept.parent) == "CURRENT"
    made = kept.read_bytes()
    assert judged(kept.parent) == "CURRENT"
    assert kept.read_bytes() == made
    kept.write_bytes(made[:1000])
    assert judged(kept.parent) == "CURRENT"
    kept.unlink()
    kept.mkdir()  # root may write anywhere, but not a file where a folder is
    assert judged(kept.parent) == "CURRENT"


def test_an_expression_that_is_no_cel_is_told() -> None:
    with pytest.raises(CatalogError, match="is no CEL"):
        evaluate({}, Expressions(current="status.phase =="))


def test_a_rule_wins_over_the_kind_s_own_and_the_condition_gives_the_reason() -> None:
    rules = rules_from([{"apiVersion": "example.test/v1", "kind": "Thing", "current": "has(spec.up)"}])
    assert set(rules) == {GroupKind("example.test", "Thing")}
    conditions = [{"type": "Ready", "status": "False", "reason": "NotUp", "message": "spec.up is missing"}]
    thing = {"apiVersion": "example.test/v2", "kind": "Thing", "status": {"conditions": conditions}}
    assert assess(thing, rules).reason == "NotUp: spec.up is missing"
    assert assess({**thing, "spec": {"up": 1}}, rules).current


def test_every_expression_of_the_catalogue_is_cel() -> None:
    entries = [
        entry.model_dump(exclude_none=True)
        for component in load(data_root()).components.values()
        for entry in component.readiness.healthCheckExprs
    ]
    for expressions in rules_from(entries).values():
        evaluate({}, expressions)
