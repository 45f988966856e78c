"""What `lock --check` finds; each case changes one thing of this clone's catalogue.

| changed | said about |
| --- | --- |
| nothing | nothing |
| a reference's tag, repository, folder | the kustomization and its line |
| an image's tag in the lock; an image gone from the lock | the object and field that name it, component.yaml |
| an upstream or an image that nothing uses | upstream.lock and its line |
| a digest | upstream.lock and its line; exit code of upstream files |
| a Go module's version | go.mod |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from modelyard.catalog import Catalog, Component, load
from modelyard.errors import CatalogError, SourceError
from modelyard.events import discard
from modelyard.lock.check import Checked, Fault
from modelyard.lock.check_all import check_all
from modelyard.lock.uses import remote_uses
from modelyard.objects import Object
from modelyard.paths import data_root
from modelyard.platform.workspace import Workspace
from modelyard.render.remote import resolve
from modelyard.sources import Store
from modelyard.sources.store import UnavailableError

# They have all components and all images between them; a check takes seconds for each target.
TARGETS = ("kind", "local")


def everything(name: str) -> bool:
    return True


def nothing(name: str) -> bool:
    return False


def checked_at(root: Path, *, look: Callable[[str], bool] = everything, targets: tuple[str, ...] = TARGETS) -> Checked:
    """Check the catalogue at `root`, and what the components to `look` at render to for these targets."""
    workspace = Workspace(None, discard, offline=True)
    catalog = load(root)
    catalog = replace(catalog, targets={name: catalog.targets[name] for name in targets})

    def render(target: str, name: str) -> list[Object]:
        if not look(name):
            raise UnavailableError(f"upstream {name}", "is not looked at")
        return workspace.renderer().objects(catalog, target, (name,))[name]

    return check_all(catalog, render, workspace.store())


def edit(root: Path, file: str, old: str, new: str) -> None:
    path = root / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_this_clone_is_as_locked() -> None:
    checked = checked_at(data_root(), targets=tuple(load(data_root()).targets))
    assert [str(fault) for fault in checked.faults] == []
    assert [what for what in checked.unchecked if not _is_only_offered(what)] == []
    assert checked.references and checked.images and checked.trees
    checked.conclude()


def test_what_targets_offer_beside_their_profiles_is_as_locked() -> None:
    rest = _only_offered(load(data_root()))
    checked = checked_at(data_root(), look=rest.__contains__, targets=tuple(load(data_root()).targets))
    assert [str(fault) for fault in checked.faults] == []
    if unchecked := [what for what in checked.unchecked if _is_only_offered(what)]:
        pytest.skip(f"is not looked at, for this machine has no copy: {'; '.join(unchecked)}")


def _is_only_offered(what: str) -> bool:
    """Tell whether a note is about files that no target needs: they may come from the git host alone."""
    return what.startswith(_notes_of_offered())


@cache
def _notes_of_offered() -> tuple[str, ...]:
    """Return how the notes begin that are about what is only offered."""
    catalog = load(data_root())
    rest = _only_offered(catalog)
    folders = tuple(f"manifests/{component.area}/{name}/" for name, component in rest.items())
    upstreams: dict[bool, set[str]] = {True: set(), False: set()}
    for name, component in catalog.components.items():  # one whose chart is used is named by no reference
        upstreams[name in rest].add(component.upstream or "")
    for use in remote_uses(catalog.root):
        name = resolve(use.entry, catalog.lock.upstreams, shown=use.file).upstream
        upstreams[use.file.startswith(folders)].add(name)
    notes = [f"images of {name} on " for name in rest]
    return tuple(notes + [f"digest of upstream {name}:" for name in upstreams[True] - upstreams[False]])


def _only_offered(catalog: Catalog) -> dict[str, Component]:
    needed = {name for target in catalog.targets for name in catalog.everything(target)}
    return {name: component for name, component in catalog.components.items() if name not in needed}


LOCK = load(data_root()).lock
NOW = LOCK.upstreams["jobset"].ref
JOBSET = "manifests/training/jobset/kustomization.yaml"


@pytest.mark.parametrize(
    ("file", "old", "new", "place", "said"),
    [
        (JOBSET, f"?ref={NOW}", "?ref=v0.10.9", f"{JOBSET}, line ", f"upstream.lock has jobset at {NOW}"),
        (JOBSET, f"?ref={NOW}", "", f"{JOBSET}, line ", "at ref (none)"),
        (JOBSET, "kubernetes-sigs/jobset//", "nobody/jobset//", f"{JOBSET}, line ", "no upstream in upstream.lock"),
        (JOBSET, "//config/default", "//hack", f"{JOBSET}, line ", "outside of config"),
        (
            "upstream.lock",
            f"jobset/jobset: {{tag: {NOW}",
            "jobset/jobset: {tag: v0.10.9",
            "component jobset, Deployment jobset-system/jobset-controller-manager "
            "spec.template.spec.containers[0].image",
            "upstream.lock has images.registry.k8s.io/jobset/jobset at v0.10.9",
        ),
        (
            "upstream.lock",
            f"  docker.io/kserve/agent: {{tag: {LOCK.images['docker.io/kserve/agent'].tag}, digest: unresolved}}\n",
            "",
            "component kserve, ConfigMap kserve/inferenceservice-config data.logger:2",
            "upstream.lock does not have images.docker.io/kserve/agent",
        ),
        (
            "upstream.lock",
            f"  docker.io/rayproject/ray: {{tag: {LOCK.images['docker.io/rayproject/ray'].tag}, digest: unresolved}}\n",
            "",
            "manifests/ray/kuberay/component.yaml",
            "does not have images.docker.io/rayproject/ray",
        ),
        (
            "upstream.lock",
            "images:\n",
            "images:\n  quay.io/nobody/uses: {tag: v1}\n",
            "upstream.lock, line ",
            "images.quay.io/nobody/uses: nothing uses it",
        ),
        (
            "upstream.lock",
            "upstreams:\n",
            "upstreams:\n  unused:\n    git: https://github.com/a/unused\n    ref: v1\n",
            "upstream.lock, line ",
            "upstreams.unused: nothing uses it",
        ),
        (
            "installer/modelyard/local/modules/shared/go.mod",
            f"sigs.k8s.io/jobset {NOW}",
            "sigs.k8s.io/jobset v0.10.1",
            "installer/modelyard/local/modules/shared/go.mod",
            f"upstream.lock has upstreams.jobset at {NOW}",
        ),
    ],
)
def test_one_thing_that_differs_is_named_with_its_place(
    copy: Path, file: str, old: str, new: str, place: str, said: str
) -> None:
    edit(copy, file, old, new)
    looked_at = re.match(r"component ([\w-]+),", place)
    checked = checked_at(copy, look=looked_at[1].__eq__ if looked_at else everything if "uses it" in said else nothing)
    found = [fault for fault in checked.faults if str(fault).startswith(place) and said in str(fault)]
    assert found, [str(fault) for fault in checked.faults]
    for fault in found:
        _assert_line(copy, fault)
    with pytest.raises(CatalogError):
        checked.conclude()


def _assert_line(root: Path, fault: Fault) -> None:
    """The line that a fault names has what the fault is about."""
    shown, _, line = fault.file.partition(", line ")
    if line:
        text = (root / shown).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        assert fault.entry.removeprefix("images.").removeprefix("upstreams.") in text


def test_tree_that_is_not_the_locked_one_is_an_error_of_upstream_files(copy: Path) -> None:
    text = (copy / "upstream.lock").read_text(encoding="utf-8")
    digest = load(copy).lock.upstreams["jobset"].tree
    assert digest is not None
    (copy / "upstream.lock").write_text(text.replace(digest.sha256, "ab" * 32), encoding="utf-8")
    checked = checked_at(copy, look=nothing)
    [fault] = checked.faults
    assert fault.entry == "upstreams.jobset"
    _assert_line(copy, fault)
    with pytest.raises(SourceError, match=digest.sha256):
        checked.conclude()


def test_reference_that_is_no_resource_counts_too(copy: Path) -> None:
    with (copy / JOBSET).open("a", encoding="utf-8") as file:
        file.write("transformers:\n- https://github.com/kubernetes-sigs/jobset//config/x?ref=v0\n")
    assert any("config/x?ref=v0" in fault.entry for fault in checked_at(copy, look=nothing).faults)


def test_component_that_cannot_be_rendered_is_named(copy: Path) -> None:
    with (copy / JOBSET).open("a", encoding="utf-8") as file:
        file.write("- path: is-not-there.yaml\n")  # its patches come last
    faults = [str(fault) for fault in checked_at(copy).faults]
    assert any(fault.startswith("overlays/kind/jobset: ") and "is-not-there.yaml" in fault for fault in faults)


def test_what_is_not_on_this_machine_is_said_to_be_unchecked(tmp_path: Path) -> None:
    catalog = load(data_root())
    store = Store(tmp_path / "sources", tmp_path / "mod", Workspace(None, discard).go, offline=True)

    def render(target: str, name: str) -> list[Object]:
        raise UnavailableError(f"upstream {name}", "is not on this machine")

    checked = check_all(catalog, render, store)
    assert checked.faults == []
    assert checked.trees == 0
    trees = [name for name, upstream in catalog.lock.upstreams.items() if upstream.tree]
    assert len([what for what in checked.unchecked if what.startswith("digest of")]) == len(trees)
    assert len([what for what in checked.unchecked if what.startswith("images of")]) > len(trees)
