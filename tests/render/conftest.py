"""A small catalogue with one upstream whose tree is in the store already, and the real kustomize."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from render_files import ABOUT, write

from modelyard.events import discard
from modelyard.platform.workspace import Workspace
from modelyard.render.cache import Cache
from modelyard.render.pins import HELM_VERSION, KUSTOMIZE_VERSION
from modelyard.render.render import Tools
from modelyard.sources import Store, tree_digest

GIT = "https://github.com/example/thing"


@pytest.fixture(scope="session")
def tools() -> Tools:
    workspace = Workspace(None, discard)
    return Tools(
        kustomize=cache(lambda: workspace.tool("kustomize", KUSTOMIZE_VERSION)),
        helm=cache(lambda: workspace.tool("helm", HELM_VERSION)),
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    def no_go() -> Path:
        raise AssertionError("nothing is to be fetched")

    return Store(tmp_path / "sources", tmp_path / "modcache", no_go)


@pytest.fixture
def rendered_cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "rendered")


@pytest.fixture
def root(tmp_path: Path, store: Store) -> Path:
    """A catalogue: component `thing` from upstream, `own` with values, target `local`."""
    upstream = tmp_path / "upstream" / "config"
    files = {
        "default/kustomization.yaml": "namespace: thing-system\nresources: [../base]\n",
        "base/kustomization.yaml": "resources: [a.yaml]\n",
        "base/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {day: 2026-01-01}\n",
        "chart/Chart.template.yaml": "apiVersion: v2\nname: thing\nversion: v0.0.0\nappVersion: v0.0.0\n",
        "chart/values.yaml": "word: none\n",
        "chart/templates/b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: "
        "{{ .Release.Namespace }}}\ndata: {word: {{ .Values.word }}, version: {{ .Chart.AppVersion }}}\n",
        "namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: charted}\n",
    }
    write(upstream, files)
    (upstream / "chart" / "crds.yaml").symlink_to("../../not-locked/crds.yaml")
    digest = tree_digest(upstream)
    kept = store.folder / f"thing-{digest[:32]}"
    kept.mkdir(parents=True)
    upstream.rename(kept / "config")
    root = tmp_path / "root"
    lock = f"""\
upstreams:
  thing:
    git: {GIT}
    ref: v1.2.3
    tree: {{dir: config, sha256: {digest}}}
    helm:
      chart: config/chart
      release: thing
      namespace: charted
      values: {{word: hello}}
      manifests: [config/namespace.yaml]
"""
    write(
        root,
        {
            "upstream.lock": lock,
            "manifests/cluster/thing/component.yaml": f"name: thing\n{ABOUT}upstream: thing\n",
            "manifests/cluster/thing/kustomization.yaml": f"resources:\n- {GIT}//config/default?ref=v1.2.3\n",
            "manifests/cluster/charted/component.yaml": f"name: charted\n{ABOUT}",
            "manifests/cluster/charted/kustomization.yaml": f"resources: ['{GIT}/releases/download/v1.2.3/x.yaml']\n",
            "manifests/cluster/own/component.yaml": f"name: own\n{ABOUT}requires: [thing]\n",
            "manifests/cluster/own/kustomization.yaml": "resources: []\n",
            "overlays/local/target.yaml": "name: local\nsummary: x\nprofiles: {core: [own, charted]}\n",
            "overlays/local/thing/kustomization.yaml": "resources: [../../../manifests/cluster/thing]\n",
            "overlays/local/charted/kustomization.yaml": "resources: [../../../manifests/cluster/charted]\n",
            "overlays/local/own/kustomization.yaml": "configMapGenerator:\n- {name: own, envs: [values.env], "
            "options: {disableNameSuffixHash: true}}\n",
            "overlays/local/own/values.env": "# how much\ncpu=1\nmemory=1Gi\n",
        },
    )
    return root
