"""What is built for whom, and in which order."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

import pytest

from modelyard.catalog import Catalog, load
from modelyard.local.build.images import GoImage
from modelyard.paths import data_root
from modelyard.platform.embedded import supply


class Recorder:
    """Stands in for the build queue: notes what is asked for, and after what."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.after: dict[str, int] = {}

    def image(self, image: GoImage) -> Future[Path]:
        self.asked.append(image.name)
        return Future()

    def python_image(self, recipe: str, *, after: tuple[Future[Path], ...] = ()) -> Future[Path]:
        self.asked.append(recipe)
        self.after[recipe] = len(after)
        return Future()


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load(data_root())


def test_what_the_smoke_job_runs_through_is_built_first(catalog: Catalog) -> None:
    names = catalog.profile("local", "core")
    order = supply.build_order(catalog, names)
    first = set(catalog.select(supply.SMOKE_COMPONENTS))
    assert set(order[: len(first)]) == first
    assert sorted(order) == sorted(names)


def test_what_compiles_its_own_libraries_is_built_last(catalog: Catalog) -> None:
    order = supply.build_order(catalog, catalog.profile("local", "core"))
    assert set(order[-2:]) == {"kserve", "metrics-server"}


def test_python_images_that_the_smoke_job_does_not_need_wait_for_its_controllers(catalog: Catalog) -> None:
    queue = Recorder()
    supplies = supply.request(queue, catalog, catalog.profile("local", "core"))  # type: ignore[arg-type]
    needed = sum(len(supplies[name].controller) for name in catalog.select(supply.SMOKE_COMPONENTS))
    assert queue.after["ray"] == 0
    assert {queue.after[recipe] for recipe in ("torch", "onnx")} == {needed}
    assert needed > 3


def test_every_controller_image_of_the_platform_is_built_here(catalog: Catalog) -> None:
    """An image that nothing builds would leave its component unready for ever."""
    lacking = {
        supply.image_name(image)
        for name in catalog.profile("local", "core")
        for image in catalog.component(name).images
        if image.when == "controller" and image.build is None
    }
    assert lacking == {"quay.io/brancz/kube-rbac-proxy:v0.18.0"}, "which the overlay takes out of KServe"


def test_images_that_only_jobs_use_and_nothing_builds_are_named(catalog: Catalog) -> None:
    assert supply.not_built(catalog.component("cert-manager")) == ("quay.io/jetstack/cert-manager-acmesolver:v1.19.4",)
    assert supply.not_built(catalog.component("kuberay")) == ()
    assert "ghcr.io/kubeflow/trainer/deepspeed-runtime:v2.1.0" in supply.not_built(catalog.component("trainer"))
