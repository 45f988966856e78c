"""Recipes: complete, locked, and named as the catalogue names their images."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from modelyard.catalog import PythonBuild, load
from modelyard.errors import BuildError
from modelyard.local.build import python_recipe
from modelyard.local.build.python_image import recipe_fingerprint
from modelyard.local.build.python_recipe import RECIPES, load_recipe, load_rootfs, lock_file, recipe_names
from modelyard.local.build.python_rootfs import rootfs_fingerprint
from modelyard.paths import data_root


@pytest.mark.parametrize("name", recipe_names())
def test_every_locked_package_has_hashes_and_no_index_is_named(name: str) -> None:
    text = "".join(line for line in lock_file(name).read_text().splitlines(keepends=True) if not line.startswith("#"))
    packages = re.findall(r"^([A-Za-z0-9_.-]+)==\S+ \\$", text, re.MULTILINE)
    assert packages
    entries = re.split(r"\n(?=\S)", text.strip())
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"://|/root|/home|/tmp|--index|--find-links", text)


@pytest.mark.parametrize("name", recipe_names())
def test_what_a_recipe_omits_is_not_locked(name: str) -> None:
    locked = set(re.findall(r"^([A-Za-z0-9_.-]+)==", lock_file(name).read_text(), re.MULTILINE))
    assert not locked.intersection(load_recipe(name).omit)


@pytest.mark.parametrize("name", recipe_names())
def test_the_files_that_a_recipe_names_are_there(name: str) -> None:
    assert all((RECIPES / name / file).is_file() for file in load_recipe(name).files)


def test_the_catalogue_calls_each_image_by_its_recipes_name() -> None:
    images = [image for component in load(data_root()).components.values() for image in component.images]
    by_recipe = {i.build.recipe: f"{i.name}:{i.tag}" for i in images if isinstance(i.build, PythonBuild)}
    assert by_recipe == {name: load_recipe(name).image for name in recipe_names()}


def test_the_root_file_system_has_what_kuberays_probes_call() -> None:
    assert {"bash", "wget", "python3"} <= set(load_rootfs().packages)


def test_further_debian_packages_make_another_root_file_system_and_none_leave_it_as_it_is() -> None:
    assert load_recipe("mpi").debian
    assert rootfs_fingerprint(load_recipe("mpi").debian) != rootfs_fingerprint(())
    assert rootfs_fingerprint(load_recipe("torch").debian) == rootfs_fingerprint()


def test_an_unknown_recipe_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BuildError, match="choose one of mpi, onnx, ray"):
        load_recipe("tensorflow")


def test_a_malformed_recipe_names_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/recipe.yaml").write_text("image: docker.io/a/b:1\nsumary: x\n")
    monkeypatch.setattr(python_recipe, "RECIPES", tmp_path)
    with pytest.raises(BuildError, match=r"broken/recipe.yaml: .*sumary: Extra inputs") as caught:
        load_recipe("broken")
    assert caught.value.exit_code == 10


def test_the_fingerprint_moves_with_the_lock_and_not_with_the_requirements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tmp_path / "r"
    recipe.mkdir()
    (recipe / "recipe.yaml").write_text((RECIPES / "ray/recipe.yaml").read_text())
    (recipe / "requirements.lock").write_text("a==1\n")
    monkeypatch.setattr(python_recipe, "RECIPES", tmp_path)
    first = recipe_fingerprint("r")
    (recipe / "requirements.in").write_text("a\n")
    assert recipe_fingerprint("r") == first
    (recipe / "requirements.lock").write_text("a==2\n")
    assert recipe_fingerprint("r") != first
