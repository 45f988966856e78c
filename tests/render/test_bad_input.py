"""What a kustomization must not do, fed to the real render: each is one named error, and nothing is written.

Cases: a URL that is not locked, in every field that takes one; a path that leaves its folder: up, absolute, by a link;
what runs a program: generators, functions, charts; malformed kustomizations and files: twice, grown, 100 MB, encodings,
several documents; patches that match nothing: by name, by target; one object in two components.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modelyard.catalog import load
from modelyard.errors import CatalogError, ModelyardError, RenderError
from modelyard.render.cache import Cache
from modelyard.render.render import Renderer, Tools
from modelyard.sources import Store, tree_digest

Feed = Callable[..., ModelyardError]
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\n"
OWN = "overlays/local/own/kustomization.yaml"


@pytest.fixture
def feed(root: Path, rendered_cache: Cache, store: Store, tools: Tools) -> Feed:
    """Write a kustomization of component `own`, render it, and return the error."""

    def run(kustomization: str | bytes, *names: str, **files: str | bytes) -> ModelyardError:
        for name, content in {"kustomization.yaml": kustomization, "a.yaml": CONFIG, **files}.items():
            path = root / "overlays/local/own" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        catalog = load(root)
        with pytest.raises(ModelyardError) as caught:
            Renderer(rendered_cache, store, tools).objects(catalog, "local", names or ("own",))
        assert caught.value.remedy
        assert not list(rendered_cache.folder.glob("*")) or names
        return caught.value

    return run


URL = "https://example.com/x.yaml"


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (f"resources:\n- {URL}\n", 2, "no upstream in upstream.lock has git"),
        ("resources:\n- a.yaml\n- ssh://git@example.com/a/b\n", 3, "is not an https:// reference"),
        ("resources: ['git::https://example.com/a/b?ref=v1']\n", 1, "is not an https:// reference"),
        ("resources: ['git@github.com:a/b']\n", 1, "is not an https:// reference"),
        ("resources: [example.org/a/b]\n", 1, "field resources.0: names example.org/a/b, which is not there"),
        (f"resources: [a.yaml]\npatches:\n- path: {URL}\n", 3, f"field patches.0.path: names {URL}; only resources"),
        (f"configMapGenerator:\n- name: x\n  files: [k={URL}]\n", 3, "field configMapGenerator.0.files.0: names https"),
        (f"secretGenerator:\n- name: x\n  envs: [{URL}]\n", 3, "field secretGenerator.0.envs.0: names https"),
        (f"resources: [a.yaml]\nreplacements: [path: '{URL}']\n", 2, "field replacements.0.path: names https"),
        (f"resources: [a.yaml]\ntransformers: ['{URL}']\n", 2, "field transformers.0: names https"),
        (f"resources: [a.yaml]\nopenapi: {{path: '{URL}'}}\n", 2, "field openapi.path: names https"),
    ],
)
def test_a_url_that_is_not_locked_is_told_with_its_line(feed: Feed, content: str, line: int, said: str) -> None:
    error = feed(content)
    assert isinstance(error, CatalogError)
    assert error.subject == f"{OWN}, line {line}"
    assert said in error.cause


@pytest.mark.timeout(60)  # what is dialled never answers
def test_a_url_inside_an_upstream_s_tree_reaches_no_network(
    root: Path, store: Store, rendered_cache: Cache, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Upstream's own kustomizations are locked, not read: kustomize meets the URL, and no way out."""
    proxy = socket.create_server(("127.0.0.1", 0))
    proxy.setblocking(False)
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.getsockname()[1]}")
    [tree] = store.folder.iterdir()
    (tree / "config/default/kustomization.yaml").write_text(f"resources: ['{URL}', ../base]\n")
    digest = tree_digest(tree / "config")
    tree.rename(store.folder / f"thing-{digest[:32]}")
    lock = (root / "upstream.lock").read_text()
    (root / "upstream.lock").write_text(lock.replace(lock.partition("sha256: ")[2][:64], digest))
    with pytest.raises(RenderError, match=r"manifests/cluster/thing: kustomize build: .*example.com"):
        Renderer(rendered_cache, store, tools).objects(load(root), "local", ["thing"])
    with proxy, pytest.raises(BlockingIOError):  # nobody has connected
        proxy.accept()


@pytest.mark.parametrize(
    ("content", "field", "right"),
    [
        (f"Resources: ['{URL}']\n", "Resources", "resources"),
        (f"resources: [a.yaml]\npatches:\n- Path: {URL}\n", "patches.0.Path", "path"),
        (f"configMapGenerator:\n- name: x\n  FILES: ['{URL}']\n", "configMapGenerator.0.FILES", "files"),
        (f"resources: [a.yaml]\nopenapi: {{PATH: '{URL}'}}\n", "openapi.PATH", "path"),
    ],
)
def test_a_field_in_other_letters_does_not_pass_unseen(feed: Feed, content: str, field: str, right: str) -> None:
    """kustomize itself would take it for the right one."""
    assert f"field {field}: is written {right}" in str(feed(content))


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("resources: [../../../../elsewhere]\n", 1, "which leads out of the catalogue"),
        ("resources: [../thing/kustomization.yaml]\n", 1, "which leads out of the kustomization's folder"),
        ("configMapGenerator:\n- name: x\n  files: [/etc/hostname]\n", 3, "leads out of the kustomization's folder"),
        ("configMapGenerator:\n- name: x\n  files:\n  - ../../../upstream.lock\n", 4, "leads out of the kustom"),
        ("configMapGenerator:\n- name: x\n  files: [link]\n", 3, "names link, which leads out of the kustomization's"),
        ("configMapGenerator:\n- name: x\n  files: [through/hostname]\n", 3, "which leads out of the kustomization's"),
        ("resources: [through]\n", 1, "names through, which leads out of the catalogue"),
        ("patches:\n- path: ../../../manifests/cluster/own/kustomization.yaml\n", 2, "leads out of the kustom"),
        ("patches:\n- path: nowhere.yaml\n", 2, "field patches.0.path: names nowhere.yaml, which is not there"),
    ],
)
def test_a_path_that_leaves_its_folder_is_told_with_its_line(
    feed: Feed, root: Path, content: str, line: int, said: str
) -> None:
    (root.parent / "elsewhere").mkdir()
    (root / "overlays/local/own/link").symlink_to("/etc/hostname")
    (root / "overlays/local/own/through").symlink_to("/etc")
    error = feed(content)
    assert isinstance(error, CatalogError)
    assert error.subject == f"{OWN}, line {line}"
    assert said in error.cause


CHART = (
    "helmCharts:\n- {{name: x, repo: 'https://example.com', version: 1.0.0, releaseName: x, namespace: x, {more}}}\n"
)
EXEC = """\
apiVersion: example.com/v1
kind: Steal
metadata:
  name: x
  annotations:
    config.kubernetes.io/function: |
      exec: {path: ./steal.sh}
"""


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("generators: [plugin.yaml]\n", "would run a KRM function (config.kubernetes.io/function)"),
        ("resources: [a.yaml]\ntransformers: [plugin.yaml]\n", "would run a KRM function"),
        ("resources: [a.yaml]\nvalidators: [plugin.yaml]\n", "would run a KRM function"),
        (
            "generators:\n- |-\n  apiVersion: example.com/v1\n  kind: Go\n  metadata: {name: x}\n",
            "would run the plugin example.com/v1/Go",
        ),
        ("generators:\n- |-\n  apiVersion: builtin\n  kind: HelmChartInflationGenerator\n", "would run helm"),
        ("helmGlobals: {chartHome: /etc}\n", "field helmGlobals: would run helm"),
        ("helmCharts:\n- {name: x, repo: 'https://example.com'}\n", "field version of a chart: Field required"),
        (CHART.format(more="valuesFile: /etc/passwd"), "field valuesFile of a chart: is not known here"),
        (CHART.format(more=""), "chart x of https://example.com, and no upstream"),
        ("Generators: [plugin.yaml]\n", "field Generators: is written generators"),
        ("generators:\n- |-\n  a: !!python/none x\n  b: !!int x\n", "is not valid YAML"),
    ],
)
def test_what_would_run_a_program_is_refused(feed: Feed, tmp_path: Path, content: str, said: str) -> None:
    stolen = tmp_path / "stolen"
    error = feed(content, **{"plugin.yaml": EXEC, "steal.sh": f"#!/bin/sh\ntouch {stolen}\n"})
    assert isinstance(error, CatalogError)
    assert error.subject.startswith("overlays/local/own/")
    assert said in error.cause
    assert not stolen.exists()


def test_kustomize_s_own_transformers_may_be_used(
    root: Path, rendered_cache: Cache, store: Store, tools: Tools
) -> None:
    folder = root / "overlays/local/own"
    (folder / "a.yaml").write_text(CONFIG)
    (folder / "kustomization.yaml").write_text(
        "resources: [a.yaml]\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: PrefixTransformer\n"
        "  metadata: {name: x}\n  prefix: my-\n  fieldSpecs: [{path: metadata/name}]\n"
    )
    found = Renderer(rendered_cache, store, tools).objects(load(root), "local", ["own"])
    assert found["own"][0]["metadata"] == {"name": "my-own"}


LAUGHS = (
    "a: &a ["
    + "lol, " * 9
    + "lol]\n"
    + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in ("ab", "bc", "cd", "de", "ef", "fg", "gh", "hi"))
)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("resources: [a.yaml]\nresources: []\n", "kustomization.yaml, line 2: field resources: is given twice"),
        ("resources: [a.yaml]\n---\nresources: []\n", "line 2: holds several documents, where one is expected"),
        ("resources: [a.yaml\n", "line 2: is not valid YAML"),
        ("- a.yaml\n", "is not a kustomization"),
        ("resources: [a.yaml]\n".encode("utf-16"), "line 1: cannot be read: it is not UTF-8"),
        (LAUGHS, "its aliases stand for more than 10,000 values"),
        (b"#" * 3 * 1024**2, "is 3.0 MiB, more than the 2 MiB"),
    ],
)
def test_a_malformed_kustomization_is_told(feed: Feed, content: str | bytes, said: str) -> None:
    assert said in str(feed(content))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (CONFIG + "kind: Secret\n", "a.yaml, line 4: field kind: is given twice"),
        (CONFIG + "---\n" + CONFIG + "data:\n  x: 1\n  x: 2\n", "a.yaml, line 10: field data.x: is given twice"),
        (CONFIG + "data: {" + "x: {" * 200 + "}" * 201, "a.yaml, line 4: nests deeper than 100 levels"),
        (CONFIG.encode("utf-16"), "a.yaml, line 1: cannot be read: it is not UTF-8"),
        (CONFIG + LAUGHS, "a.yaml, line 8: its aliases stand for more than 10,000 values"),
        (CONFIG.encode() + b"#" * 100 * 1024**2, "a.yaml: is 100.0 MiB, more than the 2 MiB"),
    ],
)
def test_a_malformed_manifest_is_told(feed: Feed, content: str | bytes, said: str) -> None:
    assert said in str(feed("resources: [a.yaml]\n", **{"a.yaml": content}))


def test_a_generator_s_file_may_have_any_content_but_not_any_size(feed: Feed) -> None:
    files = {"data.bin": b"\xff" * 3 * 1024**2}
    error = feed("configMapGenerator:\n- {name: own, files: [data.bin]}\n", **files)
    assert "overlays/local/own/data.bin: is 3.0 MiB" in str(error)


PATCH = "{apiVersion: v1, kind: ConfigMap, metadata: {name: own, labels: {a: b}}}"
JSON_PATCH = "'- {op: add, path: /metadata/labels, value: {}}'"


@pytest.mark.parametrize(
    ("patch", "field"),
    [
        (f"{{patch: '{PATCH}', target: {{kind: ConfigMap, name: owm}}}}", "patches.0"),
        (f"{{patch: {JSON_PATCH}, target: {{kind: Secret}}}}", "patches.0"),
        (f"{{patch: {JSON_PATCH}, target: {{kind: ConfigMap, name: ow}}}}", "patches.0"),  # anchored
        (f"{{patch: {JSON_PATCH}, target: {{kind: ConfigMap, labelSelector: 'a=b'}}}}", "patches.0"),
        (f"{{patch: {JSON_PATCH}, target: {{version: v2, kind: ConfigMap}}}}", "patches.0"),
        ("{path: patch.yaml, target: {kind: ConfigMap, namespace: elsewhere}}", "patches.0"),
    ],
)
def test_a_patch_whose_target_fits_nothing_is_told(feed: Feed, patch: str, field: str) -> None:
    error = feed(f"resources: [a.yaml]\npatches:\n- {patch}\n", **{"patch.yaml": PATCH})
    assert isinstance(error, RenderError)
    assert error.subject == f"{OWN}, field {field}"
    assert "the patch matches nothing: no object of component own fits" in error.cause


def test_a_patch_that_names_an_object_that_is_not_there_is_told(feed: Feed) -> None:
    error = feed(f"resources: [a.yaml]\npatches:\n- patch: '{PATCH.replace('name: own', 'name: owm')}'\n")
    assert "no matches for Id ConfigMap.v1.[noGrp]/owm.[noNs]" in error.cause


@pytest.mark.parametrize(
    "patch",
    [
        f"{{patch: '{PATCH}', target: {{kind: ConfigMap, name: 'o.*'}}}}",
        f"{{patch: '{PATCH}', target: {{kind: ConfigMap, namespace: default}}}}",
        f"{{patch: '{PATCH}', target: {{labelSelector: 'x in (y)', kind: ConfigMap}}}}",  # cannot be told
        "{patch: '{$patch: delete, apiVersion: v1, kind: ConfigMap, metadata: {name: gone}}', target: {name: gone}}",
    ],
)
def test_a_patch_that_fits_or_takes_away_what_it_fits_passes(
    root: Path, rendered_cache: Cache, store: Store, tools: Tools, patch: str
) -> None:
    folder = root / "overlays/local/own"
    (folder / "a.yaml").write_text(CONFIG + "---\n" + CONFIG.replace("own", "gone"))
    (folder / "kustomization.yaml").write_text(f"resources: [a.yaml]\npatches:\n- {patch}\n")
    assert Renderer(rendered_cache, store, tools).objects(load(root), "local", ["own"])["own"]


def test_two_components_that_have_one_object_are_told(feed: Feed) -> None:
    shared = CONFIG.replace("{name: own}", "{name: a, namespace: thing-system}")
    error = feed("resources: [a.yaml]\n", "thing", "own", **{"a.yaml": shared})
    assert isinstance(error, CatalogError)
    assert error.subject == "ConfigMap thing-system/a"
    assert "components thing and own both have it" in error.cause


def test_they_are_told_when_both_come_from_the_cache(
    feed: Feed, root: Path, rendered_cache: Cache, store: Store, tools: Tools
) -> None:
    shared: dict[str, Any] = {"a.yaml": CONFIG.replace("{name: own}", "{name: a, namespace: thing-system}")}
    first = feed("resources: [a.yaml]\n", "thing", "own", **shared)
    with pytest.raises(CatalogError) as caught:
        Renderer(rendered_cache, store, tools).objects(load(root), "local", ["thing", "own"])
    assert str(caught.value) == str(first)
