"""`kustomize build --enable-helm overlays/TARGET` with no code of ours between: the same objects as modelyard's.

kustomize fetches from github.com by git and HTTPS as it would anywhere; stand-ins on this machine answer, with what
upstream.lock has of each upstream. Charts are where kustomize keeps those that it has pulled. What upstream publishes
as a release manifest (cert-manager's) is what upstream's own chart renders to.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml
from upstream_hosts import Hosts, running

from modelyard.catalog import Catalog, Upstream, load
from modelyard.events import discard
from modelyard.objects import mappings, sequence, text
from modelyard.paths import data_root
from modelyard.platform.workspace import Workspace
from modelyard.render import helm
from modelyard.render.kustomization import CHARTS, TREES
from modelyard.render.pins import KUBERNETES_VERSION
from modelyard.render.remote import is_remote, resolve
from modelyard.render.render import WHOLE, Renderer

TARGETS = sorted(load(data_root()).targets)
USUAL = ("local",)  # the others are `long`
_SECONDS = 300


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load(data_root())


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return Workspace(None, discard).renderer()


@pytest.fixture(scope="module")
def hosts(catalog: Catalog, renderer: Renderer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    folder = tmp_path_factory.mktemp("hosts")
    used = {name: catalog.lock.upstreams[name] for name in _used(catalog)}
    trees = {name: renderer.store.tree(name, upstream) for name, upstream in used.items()}
    for repository in sorted({upstream.git for upstream in used.values()}):
        there = {name: upstream for name, upstream in used.items() if upstream.git == repository}
        _repository(folder / "git", repository, there, trees)

    def release(repository: str, tag: str) -> bytes:
        [name] = [n for n, up in used.items() if up.git.endswith(f"/{repository}") and up.ref == tag and up.helm]
        return helm.release_manifest(name, used[name], trees[name], helm=renderer.tools.helm())

    with running(folder / "keys", folder / "git", release) as found:
        yield found


@pytest.fixture
def clone(catalog: Catalog, renderer: Renderer, tmp_path: Path) -> Path:
    """What a clone has, and the charts that kustomize would have pulled."""
    for name in ("manifests", "overlays"):
        shutil.copytree(catalog.root / name, tmp_path / name)
    for file in tmp_path.rglob("kustomization.yaml"):
        for chart in mappings(yaml.safe_load(file.read_text(encoding="utf-8")), CHARTS):
            _put_chart(catalog, renderer, file.parent / "charts", text(chart, "name"), text(chart, "version"))
    return tmp_path


@pytest.mark.parametrize(
    "target", [pytest.param(name, marks=() if name in USUAL else pytest.mark.long) for name in TARGETS]
)
def test_kustomize_alone_gives_the_same_objects(
    target: str, catalog: Catalog, renderer: Renderer, hosts: Hosts, clone: Path
) -> None:
    hosts.asked.clear()
    built = _kustomize(clone / "overlays" / target, renderer, hosts)
    ours = renderer.objects(catalog, target, [WHOLE])[WHOLE]
    assert _comparable(built) == _comparable(list(ours))
    assert {each.split()[1].partition("/")[0] for each in hosts.asked} == {"github.com", "raw.githubusercontent.com"}


def test_without_the_hosts_nothing_comes_out(renderer: Renderer, hosts: Hosts, clone: Path) -> None:
    """The stand-ins are no decoration."""
    with pytest.raises(AssertionError, match=r"127\.0\.0\.1:9|proxy|connect"):
        _kustomize(clone / "overlays/local", renderer, Hosts("http://127.0.0.1:9", hosts.authority, []))


def _kustomize(folder: Path, renderer: Renderer, hosts: Hosts) -> list[Mapping[str, object]]:
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")} | {
        "HTTPS_PROXY": hosts.proxy,
        "https_proxy": hosts.proxy,
        "SSL_CERT_FILE": str(hosts.authority),
        "GIT_SSL_CAINFO": str(hosts.authority),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    with_helm = ["--enable-helm", "--helm-command", renderer.tools.helm(), "--helm-kube-version", KUBERNETES_VERSION]
    done = subprocess.run(
        [renderer.tools.kustomize(), "build", *with_helm, folder],
        env=environment,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.load_all(done.stdout, yaml.CSafeLoader) if each]


def _comparable(objects: list[Mapping[str, object]]) -> list[str]:
    """Return objects in an order of their own: kustomize puts those of a chart elsewhere."""
    return sorted(json.dumps(each, sort_keys=True, default=str) for each in objects)


def _used(catalog: Catalog) -> set[str]:
    """Return the upstreams that the whole kustomizations of the targets name."""
    found: set[str] = set()
    seen: set[Path] = set()
    todo = [catalog.whole(target) for target in TARGETS]
    while todo:
        folder = todo.pop()
        if folder in seen:
            continue
        seen.add(folder)
        content = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))
        found |= {_of_chart(catalog, text(chart, "name"))[0] for chart in mappings(content, CHARTS)}
        for entry in [str(each) for key in TREES for each in sequence(content, key)]:
            if is_remote(entry):
                found.add(resolve(entry, catalog.lock.upstreams, shown=str(folder)).upstream)
            elif (folder / entry).is_dir():
                todo.append((folder / entry).resolve())
    return found


def _of_chart(catalog: Catalog, name: str) -> tuple[str, Upstream]:
    """Return the upstream that publishes a chart."""
    upstreams = catalog.lock.upstreams.items()
    [found] = [(key, each) for key, each in upstreams if each.chart is not None and each.chart.name == name]
    return found


def _repository(root: Path, url: str, upstreams: Mapping[str, Upstream], trees: Mapping[str, Path]) -> None:
    """Make a bare repository with a tag for each ref, which has what is locked of it."""
    bare = root / f"{url.removeprefix('https://github.com/')}.git"
    _git("init", "--quiet", "--bare", bare)
    _git("-C", bare, "config", "uploadpack.allowAnySHA1InWant", "true")
    for ref in sorted({upstream.ref for upstream in upstreams.values()}):
        work = root / "work" / f"{bare.name}-{ref}"
        _git("init", "--quiet", work)
        for name, upstream in upstreams.items():
            if upstream.ref == ref:
                inside = upstream.tree.dir if upstream.tree else "."
                shutil.copytree(trees[name] / inside, work / upstream.path / inside, symlinks=True, dirs_exist_ok=True)
        _git("-C", work, "add", "--all", "--force")
        _git("-C", work, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "-m", ref)
        _git("-C", work, "tag", ref)
        _git("-C", work, "push", "--quiet", bare, ref)


def _git(*arguments: str | Path) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def _put_chart(catalog: Catalog, renderer: Renderer, charts: Path, name: str, version: str) -> None:
    key, upstream = _of_chart(catalog, name)
    assert upstream.chart is not None
    if key in _used(catalog):
        source = renderer.store.tree(key, upstream) / upstream.chart.folder
        shutil.copytree(source, charts / f"{name}-{version}" / name)
