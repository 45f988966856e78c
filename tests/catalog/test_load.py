"""This repository's own catalogue."""

from __future__ import annotations

import pytest

from modelyard.catalog import Catalog, load
from modelyard.errors import CatalogError
from modelyard.paths import data_root


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load(data_root())


def test_every_component_of_a_profile_has_an_overlay(catalog: Catalog) -> None:
    for target in catalog.targets.values():
        for profile in target.profiles:
            for name in catalog.profile(target.name, profile):
                assert (catalog.folder(target.name, name) / "kustomization.yaml").is_file()


def test_every_offered_component_has_an_overlay_and_is_not_in_the_whole(catalog: Catalog) -> None:
    for target in catalog.targets:
        whole = (catalog.root / "overlays" / target / "kustomization.yaml").read_text(encoding="utf-8").splitlines()
        for name in catalog.offered(target):
            assert (catalog.folder(target, name) / "kustomization.yaml").is_file()
            assert f"- {name}" not in whole


def test_a_selection_brings_what_it_requires_before_it(catalog: Catalog) -> None:
    assert catalog.select(["kueue"]) == ("cert-manager", "kueue")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda catalog: catalog.component("kueu"), "did you mean kueue?"),
        (lambda catalog: catalog.target("locl"), "did you mean local?"),
        (lambda catalog: catalog.profile("local", "cor"), "did you mean core?"),
    ],
)
def test_an_unknown_name_gets_the_nearest_one_and_the_list(catalog: Catalog, ask: object, said: str) -> None:
    with pytest.raises(CatalogError) as caught:
        ask(catalog)  # type: ignore[operator]
    assert said in caught.value.cause
    assert "there is: " in caught.value.cause


def test_a_version_is_the_locked_ref(catalog: Catalog) -> None:
    assert catalog.version("kueue") == catalog.lock.upstreams["kueue"].ref
    assert catalog.version("tenancy") == ""
