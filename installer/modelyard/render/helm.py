"""Charts, rendered: an upstream's release manifest that is made from one, and charts that are published."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

from modelyard.catalog.models import Upstream
from modelyard.errors import RenderError
from modelyard.programs import run
from modelyard.render.charts import ChartRef
from modelyard.render.pins import KUBERNETES_VERSION

TIMEOUT_SECONDS = 120


def release_manifest(name: str, upstream: Upstream, tree: Path, *, helm: Path) -> bytes:
    """Return the release manifest of `upstream`: its static files, then its rendered chart.

    Args:
        name: its name in upstream.lock.
        upstream: its entry.
        tree: its verified tree.
        helm: the helm command.

    Raises:
        RenderError: upstream.lock names no chart, or helm refuses.
    """
    if upstream.helm is None:
        raise RenderError(
            f"upstream {name}",
            "a kustomization names its release manifest, but upstream.lock has no chart to make it from",
            f"add upstreams.{name}.helm to upstream.lock, or name a folder of its tree",
        )
    static = [(tree / path).read_bytes() for path in upstream.helm.manifests]
    with tempfile.TemporaryDirectory(prefix="modelyard-helm-") as scratch:
        chart = _stage_chart(tree / upstream.helm.chart, _locked(tree, upstream), Path(scratch), upstream.ref)
        spec = upstream.helm
        wanted = ChartRef(name, spec.release, spec.namespace, spec.values, spec.apiVersions)
        rendered = _template(wanted, chart, Path(scratch), helm, edit=f"upstreams.{name}.helm")
    return b"\n---\n".join([*static, rendered])


def published_chart(wanted: ChartRef, upstream: Upstream, tree: Path, *, helm: Path) -> bytes:
    """Return the objects of a chart that upstream publishes, rendered from its verified tree.

    Args:
        wanted: which chart, and how.
        upstream: its entry in upstream.lock, which has a chart.
        tree: its verified tree.
        helm: the helm command.

    Raises:
        RenderError: helm refuses.
    """
    assert upstream.chart is not None
    with tempfile.TemporaryDirectory(prefix="modelyard-helm-") as scratch:
        chart = _stage_chart(tree / upstream.chart.folder, _locked(tree, upstream), Path(scratch), upstream.ref)
        return _template(wanted, chart, Path(scratch), helm, edit="valuesInline of the chart")


def _locked(tree: Path, upstream: Upstream) -> Path:
    return tree / upstream.tree.dir if upstream.tree else tree


def _stage_chart(source: Path, tree: Path, scratch: Path, version: str) -> Path:
    """Copy the chart; fill in the version where upstream's release tooling would have."""
    chart = scratch / source.name
    # A link may lead out of the part of the tree that is locked; then the chart does without what it names. (copytree
    # would tell a dangling link by where it leads from the current folder, and not from its own.)
    shutil.copytree(source, chart, ignore=partial(_leading_out, tree))
    template = chart / "Chart.template.yaml"
    if template.is_file():
        filled = template.read_text(encoding="utf-8").replace("v0.0.0", version)
        (chart / "Chart.yaml").write_text(filled, encoding="utf-8")
    return chart


def _leading_out(tree: Path, folder: str, names: list[str]) -> set[str]:
    return {name for name in names if Path(folder, name).is_symlink() and not _leads_to_a_file_of(tree, folder, name)}


def _leads_to_a_file_of(tree: Path, folder: str, name: str) -> bool:
    """Tell whether a link, whatever other links it goes through, ends at something of the tree that is there."""
    path = Path(folder, name)
    return path.exists() and path.resolve().is_relative_to(tree.resolve())


def _template(wanted: ChartRef, chart: Path, scratch: Path, helm: Path, *, edit: str) -> bytes:
    values = scratch / "values.json"
    values.write_text(json.dumps(wanted.values), encoding="utf-8")
    command = [str(helm), "template", wanted.release, str(chart), "--namespace", wanted.namespace]
    # No API versions but the built-in ones and those that are named, so that no cluster matters.
    # The Kubernetes version is ours: a helm that was built without linker flags thinks it is 1.20.
    command += [
        f"--api-versions={','.join(wanted.api_versions)}",
        "--kube-version",
        KUBERNETES_VERSION,
        "--values",
        str(values),
    ]
    homes = {f"HELM_{kind}_HOME": str(scratch / kind) for kind in ("CACHE", "CONFIG", "DATA")}
    done = run(command, env=os.environ | homes, seconds=TIMEOUT_SECONDS)
    if done.problem:
        message = " ".join(done.stderr.split()) or done.problem
        raise RenderError(f"upstream {wanted.upstream}", f"helm template: {message}", f"check {edit}")
    return done.stdout
