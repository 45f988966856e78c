"""Argo CD and Flux build overlays/<target> with kustomize, the installer one component at a time: the same objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from modelyard.catalog import Catalog, load
from modelyard.catalog.yaml_file import Loader
from modelyard.cli import main
from modelyard.objects import Object, ObjectRef, ref_of
from modelyard.paths import cache_dir, data_root
from modelyard.platform.workspace import Workspace
from modelyard.render.render import WHOLE

TARGETS = sorted(load(data_root()).targets)
# kustomize takes some 15 s for all components together; `make test` has a sample.
SAMPLE = ("openshift",)
WHOLES = [target if target in SAMPLE else pytest.param(target, marks=pytest.mark.long) for target in TARGETS]


@pytest.mark.parametrize("target", WHOLES)
def test_the_whole_is_the_sum_of_its_components(
    target: str, catalog: Catalog, workspace: Workspace, render: Callable[[str], Mapping[str, list[Object]]]
) -> None:
    whole = workspace.renderer().objects(catalog, target, [WHOLE])[WHOLE]
    parts = [obj for objects in render(target).values() for obj in objects]
    assert len(whole) == len(parts)
    assert _by_ref(whole) == _by_ref(parts)


@pytest.mark.parametrize("target", TARGETS)
def test_the_command_prints_the_components(
    target: str, catalog: Catalog, workspace: Workspace, render: Callable[[str], Mapping[str, list[Object]]]
) -> None:
    keys = workspace.renderer().keys(catalog, target, list(render(target)))
    parts = [workspace.rendered.text(key) or b"" for key in keys.values()]
    done = CliRunner().invoke(main, ["render", "--target", target])
    assert done.exit_code == 0
    assert done.stdout_bytes == b"---\n".join(parts)


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_a_render_from_nothing_is_what_the_cache_gives(
    target: str, render: Callable[[str], Mapping[str, list[Object]]], tmp_path: Path
) -> None:
    for name in ("store", "sources", "go"):  # the tools and the upstreams' files; nothing that was rendered
        (tmp_path / name).symlink_to(cache_dir() / name)
    done = CliRunner().invoke(main, ["render", "--target", target, "--cache-dir", str(tmp_path)])
    assert done.exit_code == 0, done.stderr
    cold = yaml.load_all(done.stdout, Loader=Loader)
    assert _by_ref(cold) == _by_ref(obj for objects in render(target).values() for obj in objects)


def _by_ref(objects: Iterable[Object]) -> dict[ObjectRef, Object]:
    return {ref_of(obj): obj for obj in objects}
