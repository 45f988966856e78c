"""What a target has from the target that it is on, and what it says otherwise itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from modelyard.catalog import Catalog, Target, load
from modelyard.catalog.inherit import completed, inherited
from modelyard.errors import CatalogError

BASE = {
    "leavesOut": {"metrics-server": "has one"},
    "external": {"ClusterRole": ("view", "edit")},
    "requiresApiGroups": ("route.example.com", "old.example.com"),
    "refusesApiGroups": ("other.example.com", "mine.example.com"),
    "storageClasses": {"ReadWriteOnce": "disk", "ReadWriteMany": "share"},
}
FULL = "profiles: {core: [own]}\nadds: {core: [meter]}"
PROFILES: dict[str, tuple[str, ...]] = {"core": ("own",)}


def target(name: str, **fields: object) -> Target:
    return Target.model_validate({"name": name, "summary": "x", "profiles": PROFILES} | fields)


def test_a_thin_target_has_all_from_its_base() -> None:
    found = inherited([target("top", base="middle"), target("middle", base="low"), target("low", **BASE)])
    assert found == target("top", base="middle", **BASE)


def test_what_a_target_says_itself_goes_before() -> None:
    own = target(
        "site",
        leavesOut={"metrics-server": "another"},
        external={"ClusterRole": ("view", "ours"), "Namespace": ("monitoring",)},
        requiresApiGroups=("mine.example.com",),
        refusesApiGroups=("old.example.com",),
        storageClasses={"ReadWriteOnce": "fast"},
    )
    found = inherited([own, target("low", **BASE)])
    assert found.leavesOut == {"metrics-server": "another"}
    assert found.external == {"ClusterRole": ("view", "ours", "edit"), "Namespace": ("monitoring",)}
    assert found.requiresApiGroups == ("mine.example.com", "route.example.com")
    assert found.refusesApiGroups == ("old.example.com", "other.example.com")
    assert found.storageClasses == {"ReadWriteOnce": "fast", "ReadWriteMany": "share"}


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    files = {
        "upstream.lock": "upstreams: {}\n",
        "manifests/cluster/own/component.yaml": "name: own\narea: cluster\nsummary: x\nlicence: MIT\n",
        "manifests/cluster/meter/component.yaml": "name: meter\narea: cluster\nsummary: x\nlicence: MIT\n",
        "overlays/low/target.yaml": "name: low\nsummary: x\nprofiles: {core: [own]}\nleavesOut: {meter: it has one}\n",
        "overlays/thin/target.yaml": "name: thin\nsummary: x\nbase: low\nprofiles: {core: [own]}\n",
        "overlays/more/target.yaml": "name: more\nsummary: x\nbase: low\nprofiles: {core: [own, meter]}\n",
        "overlays/more/meter/kustomization.yaml": "resources: []\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    return load(tmp_path)


def test_what_the_base_leaves_out_is_refused_with_its_reason(catalog: Catalog) -> None:
    with pytest.raises(CatalogError, match="component meter: is left out of target thin: it has one"):
        catalog.folder("thin", "meter")


def test_a_target_may_bring_back_what_its_base_leaves_out(catalog: Catalog) -> None:
    assert catalog.inherited("more").leavesOut == {}
    assert catalog.folder("more", "meter") == catalog.root / "overlays/more/meter"


def test_a_target_has_the_components_of_its_base_without_what_it_leaves_out_or_offers(catalog: Catalog) -> None:
    low = target(
        "low", profiles={"core": ["own"], "full": ["own", "meter", "queue"]}, offered={"extra": "x", "odd": "y"}
    )
    own = Target.model_validate(
        {"name": "t", "summary": "x", "base": "low", "leavesOut": {"odd": "z"}, "offered": {"meter": "asked for"}}
    )
    found = completed(own, low)
    assert found.profiles == {"core": ("own",), "full": ("own", "queue")}
    assert found.offered == {"extra": "x", "meter": "asked for"}
    more = own.model_copy(update={"adds": {"full": ("extra",)}})
    assert completed(more, low).profiles["full"] == ("own", "queue", "extra")
    assert completed(more, low).offered == {"meter": "asked for"}
    listed = target("t", base="low")
    assert completed(listed, low).profiles == PROFILES


def test_what_a_target_adds_is_for_a_profile_of_its_base(catalog: Catalog) -> None:
    for fields, said in (("adds: {ful: [meter]}", "is on low, which has none"), (FULL, "lists its profiles itself")):
        (catalog.root / "overlays/thin/target.yaml").write_text(f"name: thin\nsummary: x\nbase: low\n{fields}\n")
        with pytest.raises(CatalogError, match=said):
            load(catalog.root)


def test_a_target_without_a_base_lists_its_profiles(catalog: Catalog) -> None:
    (catalog.root / "overlays/low/target.yaml").write_text("name: low\nsummary: x\n")
    with pytest.raises(CatalogError, match="has no `profiles`, and there is nothing to take them from"):
        load(catalog.root)


WANTED = {"what": "x", "fix": "y", "check": "look"}


def said(about: object, summary: str, **more: object) -> dict[str, object]:
    return {"about": about, "summary": summary, "source": "s", "basis": "document"} | more


def test_what_a_base_asks_of_a_cluster_is_asked_unless_the_target_asks_otherwise() -> None:
    low = target("low", gpuNodes="bare", prerequisites={"storage": WANTED, "version": WANTED})
    own = target("site", base="low", prerequisites={"storage": WANTED | {"what": "another"}})
    found = inherited([own, low])
    assert {name: each.what for name, each in found.prerequisites.items()} == {"storage": "another", "version": "x"}
    assert found.gpuNodes == "bare"
    assert inherited([target("site", gpuNodes="driver"), low]).gpuNodes == "driver"


def test_a_difference_goes_on_to_thin_targets_where_it_says_so() -> None:
    low = target("low", differences=[said("own", "holds everywhere", inherited=True), said("own", "holds below")])
    found = inherited([target("top", differences=[said("own", "holds on top")]), low])
    assert [each.summary for each in found.differences] == ["holds everywhere", "holds on top"]


def test_what_is_said_of_components_that_a_target_lacks_is_left_out(catalog: Catalog) -> None:
    meter = {"prerequisites": {"meter": WANTED | {"components": ["meter"]}}, "differences": [said("meter", "x")]}
    both = said(["meter", "own"], "of both")
    for name, kept in (("more", (1, ["x", "of both"])), ("thin", (0, ["of both"]))):
        changed = catalog.targets[name].model_copy(
            update=dict(target("t", **meter | {"differences": [said("meter", "x"), both]}))
            | {"name": name, "base": "low", "profiles": catalog.targets[name].profiles}
        )
        found = replace(catalog, targets={**catalog.targets, name: changed}).inherited(name)
        assert (len(found.prerequisites), [each.summary for each in found.differences]) == kept


def test_a_thin_target_takes_the_folders_of_its_base(catalog: Catalog) -> None:
    folder = catalog.root / "overlays/low/own"
    folder.mkdir()
    assert catalog.folder("thin", "own") == folder
