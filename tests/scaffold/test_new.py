"""`modelyard new`: what it writes passes every check of this repository; what is there is never written to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from modelyard.catalog import Catalog, load, with_overlay
from modelyard.errors import CatalogError, RefusalError
from modelyard.events import discard
from modelyard.paths import data_root
from modelyard.platform.workspace import Workspace
from modelyard.scaffold import Draft, new_component, new_overlay, new_target

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of this repository's catalogue."""
    root = tmp_path / "clone"
    for name in ("manifests", "overlays"):
        shutil.copytree(data_root() / name, root / name)
    shutil.copyfile(data_root() / "upstream.lock", root / "upstream.lock")
    return root


@pytest.fixture
def catalog(root: Path) -> Catalog:
    return load(root)


def modelyard(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "modelyard", *arguments],
        env=os.environ | {"MODELYARD_ROOT": str(root)},
        cwd=root.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_new_component_and_a_new_target_pass_every_check(root: Path, catalog: Catalog) -> None:
    targets = (("target", "ours", "--base", "kind"), ("target", "ours-secured", "--base", "openshift"))
    for arguments in (("component", "observability/hello"), *targets):
        done = modelyard(root, "new", *arguments)
        assert done.returncode == 0, done.stderr
    old = " and ".join(f"not [{target}-" for target in catalog.targets)
    pytest_on = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", f"hello or ours or ({old})"]
    done = subprocess.run(
        [*pytest_on, str(TESTS / "manifests/test_rendered_manifests.py"), str(TESTS / "catalog/test_load.py")],
        env=os.environ | {"MODELYARD_ROOT": str(root)},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_a_new_component_is_in_full_and_not_in_core(root: Path, catalog: Catalog) -> None:
    new_component(catalog, "network", "hello").write()
    after = load(root)
    for target in after.targets:
        assert "hello" in after.listed(target, "full")
        assert "hello" not in after.listed(target, "core")
    assert {obj["kind"] for obj in rendered(after, "local", "hello")["hello"]} == {"Namespace", "ConfigMap"}


def test_a_new_component_may_be_for_one_target_alone(root: Path, catalog: Catalog) -> None:
    new_component(catalog, "network", "hello", ["kind"]).write()
    after = load(root)
    on_kind = {name for name in after.targets if "kind" in [each.name for each in after.chain(name)]}
    assert {name for name in after.targets if "hello" in after.available(name)} == on_kind


def test_a_new_component_of_a_target_is_in_the_lists_of_those_on_it(root: Path, catalog: Catalog) -> None:
    new_component(catalog, "network", "hello", ["cloud", "cloud-eks-auto"]).write()
    after = load(root)
    clouds = {name for name in after.targets if after.base(name) == "cloud"}
    assert {name for name in after.targets if "hello" in after.available(name)} == clouds
    for name in after.targets:
        whole = yaml.safe_load((root / "overlays" / name / "kustomization.yaml").read_text())["resources"]
        assert whole.count("../../manifests/network/hello") == after.listed(name, "full").count("hello")


@pytest.mark.parametrize("name", ["../site", "clone/site"])
def test_a_new_overlay_is_as_its_target_in_all(root: Path, catalog: Catalog, name: str) -> None:
    folder = root.parent / name if name.startswith("clone") else root / name
    done = modelyard(root, "new", "overlay", str(folder), "--target", "local", "--component", "tenancy")
    assert done.returncode == 0, done.stderr
    assert (folder / "tenancy/kustomization.yaml").is_file()
    site = with_overlay(catalog, folder)
    everything = catalog.everything("local")
    assert rendered(site, "site", *everything) == rendered(catalog, "local", *everything)
    printed = modelyard(root, "render", "--overlay", str(folder), "--profile", "core")
    assert printed.stdout == modelyard(root, "render", "--target", "local", "--profile", "core").stdout
    file = folder / "tenancy/kustomization.yaml"
    file.write_text(file.read_text() + "\ncommonAnnotations: {site: ours}\n")
    assert "site: ours" in modelyard(root, "render", "--overlay", str(folder), "--profile", "core").stdout


def test_a_target_on_a_thin_one_goes_down_to_the_one_below(root: Path, catalog: Catalog) -> None:
    new_target(catalog, "one", "local").write()
    new_target(load(root), "two", "one").write()
    after = load(root)
    assert after.base("two") == "local"
    assert rendered(after, "two", "tenancy") == rendered(after, "local", "tenancy")


def test_what_is_new_takes_the_folders_that_a_thin_target_takes_from_below(root: Path, catalog: Catalog) -> None:
    new_target(catalog, "ours", "cloud-eks-auto").write()
    new_overlay(catalog, root.parent / "site", "cloud-eks-auto", ["jobset"]).write()
    for folder in (root / "overlays/ours", root.parent / "site/jobset", root.parent / "site"):
        entries = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
        assert all((folder / entry).is_dir() for entry in entries)


def test_a_new_target_offers_what_its_base_offers(root: Path, catalog: Catalog) -> None:
    new_target(catalog, "ours", "cloud").write()
    after = load(root)
    assert after.target("ours").offered == catalog.target("cloud").offered
    assert after.inherited("ours").leavesOut == catalog.inherited("cloud").leavesOut
    whole = (root / "overlays/ours/kustomization.yaml").read_text().splitlines()
    for name in after.offered("ours"):
        assert (after.folder("ours", name) / "kustomization.yaml").is_file()
        assert f"- {name}" not in whole


def rendered(catalog: Catalog, target: str, *names: str) -> dict[str, list[object]]:
    found = Workspace(None, discard).renderer().objects(catalog, target, names)
    return {name: sorted(objects, key=str) for name, objects in found.items()}  # type: ignore[misc]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("component", "observabilty/hello"), 3, "area observabilty: is not in manifests/ (did you mean observ"),
        (("component", "hello"), 2, "is not AREA/NAME"),
        (("component", "network/Hello"), 3, "component 'Hello': is not a valid name"),
        (("component", "network/.."), 3, "component '..': is not a valid name"),
        (("component", "network/a/b"), 3, "component 'a/b': is not a valid name"),
        (("component", "network/kueue"), 3, "component kueue: is there already; nothing was changed"),
        (("component", "network/hello", "--target", "locl"), 3, "did you mean local?"),
        (("target", "local"), 3, "target local: is there already; nothing was changed"),
        (("target", "ours", "--base", "locl"), 3, "did you mean local?"),
        (("target", "../ours"), 3, "target '../ours': is not a valid name"),
        (("overlay", "local"), 3, "overlay local: is there already"),
        (("overlay", "site", "--component", "kueu"), 3, "did you mean kueue?"),
        (("overlay", "site", "--target", "locl"), 3, "did you mean local?"),
        (("overlay", "clone"), 12, "is there already; nothing was changed"),
    ],
)
def test_bad_input_is_told_and_changes_nothing(root: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    before = files(root.parent)
    done = modelyard(root, "new", *arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert files(root.parent) == before


@pytest.mark.parametrize("where", ["manifests/network/hello", "overlays/kind/hello"])
def test_a_folder_that_is_there_is_not_written_to(root: Path, catalog: Catalog, where: str) -> None:
    (root / where).mkdir(parents=True)
    before = files(root)
    with pytest.raises(RefusalError, match=f"{where}: is there already; nothing was changed"):
        new_component(catalog, "network", "hello").write()
    assert files(root) == before
    assert list((root / where).iterdir()) == []


def test_a_link_that_leads_nowhere_counts_as_there(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "site").symlink_to(tmp_path / "nowhere")
    with pytest.raises(RefusalError, match="is there already"):
        new_overlay(catalog, tmp_path / "site", "local").write()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CatalogError, match=r"cannot be written: (Not a directory|File exists)"):
        Draft({tmp_path / "file" / "folder" / "x": {"a": "b"}}).write()


def test_an_installed_package_is_not_written_to(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    from modelyard.cli import new

    monkeypatch.setattr(new, "is_packaged", lambda found: True)
    with pytest.raises(RefusalError, match="is an installed package, which the next upgrade replaces"):
        new._catalogue()
