"""Alert rules: Prometheus takes them, each is seen to fire, and the operator's object has the same ones.

`promtool` is Debian's, unpacked and not installed. alerts/ has its unit tests: series in, firing alerts out. How rules
meet the series of a real Prometheus is seen in conformance/observability.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from modelyard.local.build.debian import unpack
from modelyard.local.build.store import Store
from modelyard.objects import Object, mapping, mappings, text
from modelyard.paths import cache_dir, data_root

PROMETHEUS = data_root() / "manifests/observability/prometheus"
OPERATOR = PROMETHEUS / "operator/rules.yaml"
FILES = sorted(path for path in (PROMETHEUS / "rules").glob("*.yaml") if path.name != "kustomization.yaml")
UNIT_TESTS = sorted((Path(__file__).parent / "alerts").glob("*.yaml"))
WRITE = "MODELYARD_WRITE_RULES"
HEAD = "# Written by `make rules` from ../rules.\n"
_FIRING = re.compile(r'ALERTS\{alertname="(\w+)",alertstate="firing"')


@pytest.fixture(scope="module")
def promtool() -> Path:
    return unpack(Store(cache_dir() / "store"), ["prometheus"]) / "usr/bin/promtool"


def test_prometheus_takes_every_rule_file(promtool: Path) -> None:
    done = _run(promtool, "check", "rules", *FILES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_refuses_a_rule_that_is_no_promql(promtool: Path, tmp_path: Path) -> None:
    broken = tmp_path / "rules.yaml"
    broken.write_text(FILES[0].read_text().replace("expr: ", "expr: sum by ", 1))
    assert _run(promtool, "check", "rules", broken).returncode != 0


@pytest.mark.parametrize("file", UNIT_TESTS, ids=lambda path: path.stem)
def test_alerts_fire_when_they_should_and_only_then(file: Path, promtool: Path) -> None:
    done = _run(promtool, "test", "rules", file)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_seen_to_fire() -> None:
    expected = {name for file in UNIT_TESTS for name in _expected(yaml.safe_load(file.read_text()))}
    assert expected == {text(rule, "alert") for rule in _rules()}


def test_every_alert_says_what_how_bad_and_what_to_do() -> None:
    for rule in _rules():
        assert mapping(rule, "annotations").keys() == {"summary", "description", "next"}, rule
        assert text(rule, "labels", "severity") in ("warning", "critical"), rule


def test_the_operators_rules_are_the_same_groups() -> None:
    groups = [group for file in FILES for group in mappings(yaml.safe_load(file.read_text()), "groups")]
    rule = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "modelyard", "namespace": "modelyard-monitoring"},
        "spec": {"groups": groups},
    }
    if os.environ.get(WRITE):
        OPERATOR.write_text(HEAD + yaml.safe_dump(rule, sort_keys=False, width=120, allow_unicode=True))
    assert yaml.safe_load(OPERATOR.read_text()) == rule, "make rules"


def _rules() -> list[Object]:
    groups = [group for file in FILES for group in mappings(yaml.safe_load(file.read_text()), "groups")]
    return [rule for group in groups for rule in mappings(group, "rules")]


def _expected(document: Object) -> set[str]:
    """Return the alerts that a unit test expects to fire."""
    return {
        match[1]
        for test in mappings(document, "tests")
        for asked in mappings(test, "promql_expr_test")
        for sample in mappings(asked, "exp_samples")
        if (match := _FIRING.match(text(sample, "labels")))
    }


def _run(promtool: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([promtool, *arguments], capture_output=True, text=True, check=False)
