"""Values that components and targets declare: types, files, targets on targets, what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.catalog import Catalog, load
from modelyard.catalog.values import (
    Value,
    ValueFaultError,
    ValueType,
    by_component,
    flat,
    json_schema,
    merged,
    read_sections,
)
from modelyard.errors import CatalogError
from modelyard.paths import data_root

DECLARED = {
    "team.cpu": Value(about="CPUs", type=ValueType.QUANTITY),
    "team.gpus": Value(about="GPUs", type=ValueType.COUNT),
    "team.group": Value(about="a group"),
    "store.keep": Value(about="how long", pattern="([0-9]+d)+"),
}
COMPONENT = """\
name: {name}
area: cluster
summary: x
licence: Apache-2.0
{more}
"""
TARGET = "name: {name}\nsummary: x\n{base}profiles:\n  core: [team]\n{more}\n"
TEAM = "values:\n  cpu: {about: CPUs, type: quantity}\n  gpus: {about: GPUs, type: count}"

Feed = Callable[[Mapping[str, str]], Catalog]


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    """Return the catalogue of some files, on top of a component `team` and the targets `low` and `high` on it."""

    def run(files: Mapping[str, str]) -> Catalog:
        given = {
            "upstream.lock": "{}",
            "manifests/cluster/team/component.yaml": COMPONENT.format(name="team", more=TEAM),
            "overlays/low/target.yaml": TARGET.format(name="low", base="", more=""),
            "overlays/low/values.yaml": "team: {cpu: 4, gpus: 0}\n",
            "overlays/high/target.yaml": TARGET.format(name="high", base="base: low\n", more=""),
            **files,
        }
        for name, text in given.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return load(tmp_path)

    return run


@pytest.mark.parametrize("value", [16, 0, 1.5, "500m", "64Gi", "2"])
def test_quantity_is_one_of_kubernetes_or_a_number(value: object) -> None:
    assert flat(read_sections({"team": {"cpu": value}}, DECLARED)) == {"team.cpu": str(value)}


@pytest.mark.parametrize(
    ("component", "name", "value", "cause"),
    [
        ("team", "cpu", "many", "'many' is not a quantity, such as 16, 500m or 64Gi"),
        ("team", "cpu", -1, "-1 is not a quantity"),
        ("team", "cpu", True, "True is not a quantity"),
        ("team", "cpu", None, "None is not a quantity"),
        ("team", "cpu", [4], r"\[4\] is not a quantity"),
        ("team", "gpus", 1.5, "1.5 is not a whole number"),
        ("team", "gpus", "1Gi", "'1Gi' is not a whole number"),
        ("team", "group", "", "'' is not a line of text"),
        ("team", "group", "two\nlines", "is not a line of text"),
        ("team", "group", 12, "must be text, and YAML reads 12 otherwise: put it in quotes"),
        ("team", "group", False, "must be text"),
        ("store", "keep", "15 days", "is not text like"),
        ("team", "cpus", 4, r"unknown field \(did you mean cpu\?\)"),
        ("tema", "cpu", 4, r"no component of the target has values by that name \(did you mean team\?\)"),
    ],
)
def test_value_that_does_not_fit_is_refused(component: str, name: str, value: object, cause: str) -> None:
    with pytest.raises(ValueFaultError, match=cause):
        read_sections({component: {name: value}}, DECLARED)


@pytest.mark.parametrize("document", [[], "text", {"team": 4}, {"team": {1: 2}}, {1: {}}])
def test_file_that_is_no_mapping_of_mappings_is_refused(document: object) -> None:
    with pytest.raises(ValueFaultError):
        read_sections(document, DECLARED)


@pytest.mark.parametrize("document", [None, {}, {"team": None}, {"team": {}}])
def test_file_may_set_nothing(document: object) -> None:
    assert flat(read_sections(document, DECLARED)) == {}


names = st.sampled_from(["a", "b", "c"])
sections = st.dictionaries(names, st.dictionaries(names, st.none() | st.sampled_from(["1", "2"])))


@given(sections, sections, sections)
def test_files_on_files_come_to_the_same_whatever_is_put_together_first(
    low: dict[str, dict[str, str | None]],
    middle: dict[str, dict[str, str | None]],
    high: dict[str, dict[str, str | None]],
) -> None:
    assert merged(merged(low, middle), high) == merged(low, merged(middle, high))
    assert flat(merged(low, {})) == flat(low) == flat(merged({}, low))


@given(st.dictionaries(st.from_regex(r"[a-z]{1,3}\.[a-z]{1,3}", fullmatch=True), st.text()))
def test_values_by_component_are_the_same_values(values: dict[str, str]) -> None:
    back = {
        f"{component}.{name}": value for component, each in by_component(values).items() for name, value in each.items()
    }
    assert back == values


def test_target_has_the_values_of_its_base_with_its_own_in_their_place(feed: Feed) -> None:
    catalog = feed({"overlays/high/values.yaml": "team: {cpu: 8}\n"})
    assert catalog.defaults == {"low": {"team.cpu": "4", "team.gpus": "0"}, "high": {"team.cpu": "8", "team.gpus": "0"}}


def test_null_takes_a_value_of_the_base_away(feed: Feed) -> None:
    catalog = feed({"overlays/high/values.yaml": "team: {gpus: null}\n"})
    assert list(catalog.inherited("high").values) == ["team.cpu"]
    assert list(catalog.inherited("low").values) == ["team.cpu", "team.gpus"]


def test_value_of_one_target_is_declared_there(feed: Feed) -> None:
    more = "values:\n  team.pool: {about: the pool}"
    catalog = feed(
        {
            "overlays/high/target.yaml": TARGET.format(name="high", base="base: low\n", more=more),
            "overlays/high/values.yaml": "team: {pool: gpu}\n",
        }
    )
    assert catalog.defaults["high"]["team.pool"] == "gpu"
    assert "team.pool" not in catalog.inherited("low").values


@pytest.mark.parametrize(
    ("files", "cause"),
    [
        (
            {"overlays/low/values.yaml": "# why\nteam:\n  gpu: 1\n"},
            r"low/values.yaml, line 3: field team.gpu: unknown.*gpus",
        ),
        ({"overlays/low/values.yaml": "team: {pool: x}\n"}, "line 1: field team.pool: unknown field"),
        ({"overlays/low/values.yaml": "team: [\n"}, r"low/values.yaml"),
        (
            {"overlays/low/target.yaml": TARGET.format(name="low", base="", more="values:\n  team.pool: the pool")},
            "field values.team.pool: is text; write {about: the pool}",
        ),
        (
            {"overlays/low/target.yaml": TARGET.format(name="low", base="", more="values:\n  team.pool: {about: x}")},
            "lacks team.pool, which target.yaml declares",
        ),
        (
            {"overlays/low/target.yaml": TARGET.format(name="low", base="", more="values:\n  taem.pool: {about: x}")},
            r"values names component taem.*did you mean team",
        ),
        (
            {
                "manifests/cluster/team/component.yaml": COMPONENT.format(
                    name="team", more=f"{TEAM}\nsized: {{cpu: cpus, memory: gpus, queue: Queue.x}}"
                )
            },
            r"sized names the value cpus, which it does not have \(did you mean cpu\?\)",
        ),
        (
            {
                f"manifests/cluster/{name}/component.yaml": COMPONENT.format(
                    name=name, more=f"{TEAM}\nsized: {{cpu: cpu, memory: gpus, queue: Queue.x}}"
                )
                for name in ("team", "other")
            },
            "one can have what is left",
        ),
    ],
)
def test_catalogue_that_does_not_fit_together_is_refused(feed: Feed, files: dict[str, str], cause: str) -> None:
    with pytest.raises(CatalogError, match=f"(?s){cause}"):
        feed(files)


def test_schema_for_editors_takes_what_the_installer_takes() -> None:
    schema = json_schema(DECLARED, "Values", gone=["team.pool"])
    team = schema["properties"]["team"]  # type: ignore[index]
    assert team["additionalProperties"] is False
    assert set(team["properties"]) == {"cpu", "gpus", "group", "pool"}
    assert team["properties"]["gpus"] == {"description": "GPUs", "type": "integer", "minimum": 0}
    assert team["properties"]["pool"] == {"type": "null"}


def test_component_that_takes_what_nodes_have_left_is_the_teams() -> None:
    sized = load(data_root()).sized
    assert sized is not None
    assert sized.name == "tenancy"
