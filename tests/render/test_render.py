"""Rendering with the real kustomize and helm: local trees, values, charts, the cache, what is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from render_files import ABOUT, write

from modelyard.catalog import load
from modelyard.errors import CatalogError, RenderError
from modelyard.render.cache import Cache
from modelyard.render.fingerprint import of_catalogue
from modelyard.render.render import Renderer, Tools
from modelyard.sources import Store

Make = Callable[..., dict[str, Any]]


def no_tool() -> Path:
    raise AssertionError("a tool was asked for")


@pytest.fixture
def make(root: Path, rendered_cache: Cache, store: Store, tools: Tools) -> Make:
    def run(*names: str, tools: Tools = tools, values: Any = None) -> dict[str, Any]:
        return Renderer(rendered_cache, store, tools).objects(load(root), "local", names, values=values)

    return run


def test_a_remote_folder_is_rendered_from_the_locked_tree(make: Make) -> None:
    (found,) = make("thing")["thing"]
    assert found["metadata"] == {"name": "a", "namespace": "thing-system"}
    assert found["data"] == {"day": "2026-01-01T00:00:00Z"}  # as kustomize writes a date; for Kubernetes a string


def test_a_release_manifest_is_made_from_the_locked_chart(make: Make) -> None:
    found = {obj["kind"]: obj for obj in make("charted")["charted"]}
    assert found["Namespace"]["metadata"]["name"] == "charted"
    assert found["ConfigMap"]["metadata"]["namespace"] == "charted"
    assert found["ConfigMap"]["data"] == {"word": "hello", "version": "v1.2.3"}


def test_values_take_the_place_of_the_overlay_s(make: Make) -> None:
    assert make("own")["own"][0]["data"] == {"cpu": "1", "memory": "1Gi"}
    assert make("own", values={"own": {"cpu": "3"}})["own"][0]["data"] == {"cpu": "3", "memory": "1Gi"}
    assert make("own")["own"][0]["data"] == {"cpu": "1", "memory": "1Gi"}  # each has its own cache entry


def test_values_file_of_the_target_holds_whatever_is_left_in_the_folders(make: Make, root: Path) -> None:
    """In a clone somebody edits values.yaml, and installs: `make values` is for kustomize alone."""
    about = root / "manifests/cluster/own/component.yaml"
    about.write_text(
        about.read_text() + "values: {cpu: {about: x, type: quantity}, memory: {about: y, type: quantity}}\n"
    )
    (root / "overlays/local/values.yaml").write_text("own: {cpu: 2}\n")
    assert make("own")["own"][0]["data"] == {"cpu": "2", "memory": "1Gi"}
    assert make("own", values={"own": {"cpu": "3"}})["own"][0]["data"] == {"cpu": "3", "memory": "1Gi"}


def test_a_value_that_the_overlay_does_not_have_gets_the_nearest_name(make: Make) -> None:
    with pytest.raises(CatalogError, match=r"did you mean memory\?"):
        make("own", values={"own": {"memroy": "3"}})


def test_the_second_render_needs_no_tool(make: Make) -> None:
    first = make("thing", "own")
    assert make("thing", "own", tools=Tools(no_tool, no_tool)) == first
    assert list(first) == ["thing", "own"]


def test_an_overlay_that_only_names_its_base_is_rendered_once_for_all_targets(make: Make, root: Path) -> None:
    (root / "overlays/other/own").mkdir(parents=True)
    (root / "overlays/other/own/kustomization.yaml").write_text("resources: [../../local/own]\n")
    (root / "manifests/cluster/thin").mkdir()
    (root / "manifests/cluster/thin/component.yaml").write_text(f"name: thin\n{ABOUT}")
    first = make("own")
    thin = root / "overlays/local/thin"
    thin.mkdir()
    (thin / "kustomization.yaml").write_text("resources: [../../other/own]\n")
    assert make("thin", tools=Tools(no_tool, no_tool))["thin"] == first["own"]
    (thin / "kustomization.yaml").write_text("resources: [../../other/own]\nnamePrefix: x-\n")
    assert make("thin")["thin"][0]["metadata"]["name"] == "x-own"


def test_overlays_that_name_only_each_other_are_left_to_kustomize(make: Make, root: Path) -> None:
    own = root / "overlays/local/own/kustomization.yaml"
    (root / "overlays/other/own").mkdir(parents=True)
    (root / "overlays/other/own/kustomization.yaml").write_text("resources: [../../local/own]\n")
    own.write_text("resources: [../../other/own]\n")
    with pytest.raises(RenderError, match="cycle"):
        make("own")


def test_what_a_target_leaves_out_is_refused_with_its_reason(make: Make, root: Path) -> None:
    target = root / "overlays/local/target.yaml"
    target.write_text("name: local\nsummary: x\nprofiles: {core: [charted]}\nleavesOut: {own: it has one already}\n")
    with pytest.raises(CatalogError, match="left out of target local: it has one already"):
        make("own")


@pytest.mark.parametrize(
    "touched",
    ["overlays/local/own/values.env", "overlays/local/own/kustomization.yaml"],
)
def test_a_changed_input_is_rendered_anew_and_others_are_not(make: Make, root: Path, touched: str) -> None:
    make("thing", "own")
    path = root / touched
    path.write_text(path.read_text().replace("cpu=1", "cpu=2").replace("own,", "owned,"))
    make("thing", tools=Tools(no_tool, no_tool))
    changed = make("own")["own"][0]
    assert changed["data"]["cpu"] == "2" or changed["metadata"]["name"] == "owned"


def test_of_all_components_only_the_changed_one_is_rendered_again(make: Make, root: Path, tools: Tools) -> None:
    builds: list[str] = []

    def counted() -> Path:
        builds.append("kustomize")
        return tools.kustomize()

    names = ("thing", "own", "charted")
    first = make(*names, tools=Tools(counted, tools.helm))
    assert len(builds) == 3
    (root / "overlays/local/own/values.env").write_text("cpu=2\nmemory=1Gi\n")
    second = make(*names, tools=Tools(counted, no_tool))
    assert len(builds) == 4
    assert second["own"] != first["own"]
    assert [second[name] for name in ("thing", "charted")] == [first[name] for name in ("thing", "charted")]
    (root / "upstream.lock").write_text((root / "upstream.lock").read_text() + "images: {x.io/a: {tag: v1}}\n")
    assert make(*names, tools=Tools(no_tool, no_tool)) == second  # the lock changed, but none of their upstreams


def test_a_damaged_cache_entry_is_found_and_made_anew(make: Make, rendered_cache: Cache) -> None:
    first = make("thing")
    for entry in rendered_cache.folder.iterdir():
        entry.write_bytes(entry.read_bytes()[:-3] + b"xxx")
    assert make("thing") == first


def test_what_kustomize_refuses_names_the_overlay_and_no_temporary_folder(make: Make, root: Path) -> None:
    (root / "overlays/local/own/kustomization.yaml").write_text("resources: [.]\n")
    with pytest.raises(RenderError) as caught:
        make("own")
    assert caught.value.subject == "overlays/local/own"
    assert "cycle detected" in caught.value.cause
    assert "modelyard-render-" not in caught.value.cause


def test_where_nothing_differs_a_target_needs_no_folder(make: Make, root: Path) -> None:
    shutil.rmtree(root / "overlays/local/own")
    plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n"
    write(root / "manifests/cluster/own", {"plain.yaml": plain, "kustomization.yaml": "resources: [plain.yaml]\n"})
    assert [each["metadata"]["name"] for each in make("own")["own"]] == ["plain"]


def test_a_render_of_nothing_is_an_error(make: Make, root: Path) -> None:
    (root / "overlays/local/own/kustomization.yaml").write_text("resources: []\nnamePrefix: x-\n")
    with pytest.raises(RenderError):
        make("own")


def test_the_fingerprint_changes_with_every_input(root: Path) -> None:
    before = of_catalogue(root, "local")
    assert of_catalogue(root, "local") == before
    assert of_catalogue(root, "kind") != before
    for path in sorted(root.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            path.write_bytes(content + b"\n")
            assert of_catalogue(root, "local") != before, path
            path.write_bytes(content)
    site = root.parent / "site"
    site.mkdir()
    (site / "target.yaml").write_text("a")
    with_overlay = of_catalogue(root, "local", overlay=site)
    assert with_overlay != before
    (site / "target.yaml").write_text("b")
    assert of_catalogue(root, "local", overlay=site) != with_overlay
    (root / "manifests" / "new").write_text("")
    assert of_catalogue(root, "local") != before
