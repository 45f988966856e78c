"""A user's own overlay: `kustomize build DIR` and modelyard give the same objects; what would part them is refused.

Cases: beside the catalogue, elsewhere, through a link; a component patched, one taken straight from the catalogue;
values of the install; the cache; a malformed overlay.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from render_files import ABOUT, write

from modelyard.catalog import load, with_overlay
from modelyard.errors import CatalogError
from modelyard.render.cache import Cache
from modelyard.render.render import Renderer, Tools
from modelyard.sources import Store

Make = Callable[..., dict[str, Any]]
TARGET = "name: site\nsummary: x\nbase: local\nprofiles:\n  core: [own]\n  full: [own, more]\n"
LIST = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- own\n- {catalogue}/more\n"
PATCH = """\
resources: [../{catalogue}/own]
patches:
- patch: |-
    {{apiVersion: v1, kind: ConfigMap, metadata: {{name: own, labels: {{site: ours}}}}}}
"""


@pytest.fixture
def root(root: Path) -> Path:
    """The shared catalogue, with one more component and nothing from upstream: plain kustomize has no such tree."""
    write(
        root,
        {
            "manifests/cluster/own/component.yaml": f"name: own\n{ABOUT}",
            "manifests/cluster/more/component.yaml": f"name: more\n{ABOUT}",
            "overlays/local/more/kustomization.yaml": "resources: [more.yaml]\n",
            "overlays/local/more/more.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n",
        },
    )
    return root


def overlay_at(folder: Path, root: Path) -> Path:
    folder.mkdir(parents=True)
    catalogue = os.path.relpath(root / "overlays/local", folder)
    write(
        folder,
        {
            "target.yaml": TARGET,
            "kustomization.yaml": LIST.format(catalogue=catalogue),
            "own/kustomization.yaml": PATCH.format(catalogue=catalogue),
        },
    )
    return folder


@pytest.fixture
def site(root: Path) -> Path:
    return overlay_at(root.parent / "site", root)


@pytest.fixture
def make(root: Path, rendered_cache: Cache, store: Store, tools: Tools) -> Make:
    def run(folder: Path, *names: str, tools: Tools = tools, values: Any = None) -> dict[str, Any]:
        catalog = with_overlay(load(root), folder)
        chosen = names or catalog.everything("site")
        return Renderer(rendered_cache, store, tools).objects(catalog, "site", chosen, values=values)

    return run


def built(folder: Path, tools: Tools) -> list[dict[str, Any]]:
    done = subprocess.run([tools.kustomize(), "build", "."], cwd=folder, capture_output=True, text=True, check=True)
    return sorted(yaml.safe_load_all(done.stdout), key=str)


@pytest.mark.parametrize("where", ["../site", "../some/where/else", "site"])
def test_kustomize_alone_gives_the_same_objects(root: Path, make: Make, tools: Tools, where: str) -> None:
    site = overlay_at((root / where).resolve(), root)
    found = make(site)
    assert sorted((obj for objects in found.values() for obj in objects), key=str) == built(site, tools)
    assert found["own"][0]["metadata"]["labels"] == {"site": "ours"}


def test_through_a_link_too(root: Path, site: Path, make: Make, tools: Tools) -> None:
    link = root.parent / "elsewhere" / "link"
    link.parent.mkdir()
    link.symlink_to(site)
    assert sorted((obj for objects in make(link).values() for obj in objects), key=str) == built(link, tools)


def test_values_of_the_install_go_into_the_target_s_file(site: Path, make: Make) -> None:
    [own] = make(site, "own", values={"own": {"cpu": "3"}})["own"]
    assert own["data"] == {"cpu": "3", "memory": "1Gi"}


def test_an_overlay_offers_nothing_beside_its_profiles(root: Path, site: Path) -> None:
    (site / "target.yaml").write_text(TARGET.replace(", more]", "]") + "offered: {more: x}\n")
    with pytest.raises(CatalogError, match="field offered: an overlay has what it lists"):
        with_overlay(load(root), site)


def test_an_overlay_adds_nothing_to_its_profiles(root: Path, site: Path) -> None:
    (site / "target.yaml").write_text(TARGET + "adds: {full: [more]}\n")
    with pytest.raises(CatalogError, match="field adds: an overlay has what it lists"):
        with_overlay(load(root), site)


def test_what_the_overlay_leaves_alone_comes_from_the_target_s_cache(
    root: Path, site: Path, make: Make, rendered_cache: Cache, store: Store, tools: Tools
) -> None:
    def no_tool() -> Path:
        raise AssertionError("a tool was asked for")

    Renderer(rendered_cache, store, tools).objects(load(root), "local", ["more"])
    assert make(site, "more", tools=Tools(no_tool, no_tool))["more"]


def test_profiles_and_the_base_are_the_overlay_s(root: Path, site: Path) -> None:
    catalog = with_overlay(load(root), site)
    assert catalog.profile("site", "core") == ("own",)
    assert catalog.base("site") == "local"
    with pytest.raises(CatalogError, match=r"profile ful: is not in the target.yaml of site \(did you mean full\?\)"):
        catalog.profile("site", "ful")
    with pytest.raises(CatalogError, match="component thing: is not in target site"):
        catalog.folder("site", "thing")


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("target.yaml", "base: local\n", "", "site/target.yaml: field base: Field required"),
        ("target.yaml", "base: local", "base: locl", r"target locl: is not in overlays/.*did you mean local\?"),
        ("target.yaml", "name: site", "name: local", "site/target.yaml: takes the name of target local"),
        ("target.yaml", "core: [own]", "core: [onw]", r"profile core names component onw.*did you mean own\?"),
        ("target.yaml", "full: [own, more]", "full: [own]", "no profile of target.yaml has component more, so"),
        (
            "target.yaml",
            "full: [own, more]",
            "full: [own, more, thing]",
            "kustomization.yaml does not list component thing, so",
        ),
        ("kustomization.yaml", "resources:", "namePrefix: x-\nresources:", "line 3: field namePrefix: each component"),
        ("kustomization.yaml", "- own\n", "- own\n- own\n", "line 5: component own is there twice"),
        ("kustomization.yaml", "- own\n", "- onw\n", "line 4: names onw, which is not a folder"),
        ("kustomization.yaml", "- own\n", "- https://example.com/own?ref=v1\n", "line 4: names https.*is not a folder"),
        ("kustomization.yaml", "- own\n", "- own\n- ..\n", "and there is no component"),
        ("kustomization.yaml", "- own\n", "- own\n- own: x\n", "line 5: names {'own': 'x'}, which is not a folder"),
        ("kustomization.yaml", "kind: Kustomization\n", "kind: x\nkind: y\n", "line 3: field kind: is given twice"),
    ],
)
def test_a_malformed_overlay_is_told(root: Path, site: Path, file: str, old: str, new: str, said: str) -> None:
    text = (site / file).read_text()
    assert old in text
    (site / file).write_text(text.replace(old, new))
    with pytest.raises(CatalogError, match=said) as caught:
        with_overlay(load(root), site)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("resources", "said"),
    [
        ("[../../elsewhere]", "names ../../elsewhere, which leads out of the catalogue"),
        ("[../secret.yaml]", "names ../secret.yaml, which leads out of the kustomization's folder"),
        ("['https://example.com/x.yaml']", "no upstream in upstream.lock has git"),
    ],
)
def test_a_component_of_the_overlay_is_held_to_the_same_rules(
    site: Path, make: Make, resources: str, said: str
) -> None:
    write(site.parent, {"elsewhere/kustomization.yaml": "resources: []\n", "site/secret.yaml": "a: b\n"})
    write(site, {"own/kustomization.yaml": f"resources: {resources}\n"})
    with pytest.raises(CatalogError, match=r"site/own/kustomization.yaml, line 1: .*" + said):
        make(site)


def test_targets_that_rest_on_each_other_are_told(root: Path) -> None:
    for name, base in (("a", "b"), ("b", "a")):
        write(root, {f"overlays/{name}/target.yaml": TARGET.replace("site", name).replace("local", base)})
    write(root, {"manifests/cluster/more/component.yaml": f"name: more\n{ABOUT}"})
    with pytest.raises(CatalogError, match="target a: is based on itself: a -> b -> a"):
        load(root)


def test_what_is_refused_cold_is_refused_warm(root: Path, tmp_path: Path, tools: Tools) -> None:
    shutil.copytree(root / "overlays/local", root / "overlays/other")
    target = root / "overlays/other/target.yaml"
    target.write_text(target.read_text().replace("name: local", "name: other"))
    tools.kustomize()
    site = overlay_at(root.parent / "site", root)
    (site / "target.yaml").write_text(TARGET.replace("base: local", "base: other"))

    def render(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "modelyard", "render", "--overlay", str(site), "--component", "own", *options],
            env=os.environ | {"MODELYARD_ROOT": str(root)},
            capture_output=True,
            text=True,
            check=False,
        )

    cold = render()
    assert cold.returncode == 0, cold.stderr
    warm = render("--target", "local")
    assert warm.returncode == 3, warm.stdout
    assert "is on target other, not on local" in warm.stderr
