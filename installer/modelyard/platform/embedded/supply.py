"""From the catalogue to the build queue: which images a set of components needs, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from modelyard.catalog import Catalog, Component, GoBuild, Image, PythonBuild, When
from modelyard.local.build.binaries import GoBinary
from modelyard.local.build.images import GoImage
from modelyard.local.build.queue import BuildQueue

# What the smoke job runs through: its images are built first, the rest while it runs.
SMOKE_COMPONENTS = ("tenancy", "kueue", "kuberay")


@dataclass(frozen=True, slots=True)
class Supply:
    """The archives of a component's images, as futures by full image name.

    Args:
        controller: needed before the component is applied.
        workload: needed only by jobs that use it.
    """

    controller: Mapping[str, Future[Path]]
    workload: Mapping[str, Future[Path]]


def build_order(catalog: Catalog, names: Sequence[str]) -> tuple[str, ...]:
    """Return `names` in the order in which their images should be built.

    First what the smoke job needs; then what compiles in the shared module, whose libraries are there by then;
    then the others. Within each group the order of the requires graph.
    """
    needed_first = _needed_first(catalog)

    def rank(name: str) -> int:
        if name in needed_first:
            return 0
        modules = {image.build.module for image in _built(catalog.component(name)) if isinstance(image.build, GoBuild)}
        return 1 if modules <= {"shared"} else 2

    return tuple(sorted(names, key=rank))  # stable: keeps the graph's order within a rank


def request(queue: BuildQueue, catalog: Catalog, names: Sequence[str]) -> dict[str, Supply]:
    """Ask `queue` for every image of `names` that is built here; return the futures by component.

    Python images that the smoke job does not need are begun when all that it needs has been compiled.
    """
    needed_first = _needed_first(catalog)
    first: list[Future[Path]] = []
    supplies = {}
    for name in build_order(catalog, names):
        after = () if name in needed_first else tuple(first)
        controller = _ask(queue, _built(catalog.component(name), When.CONTROLLER), after)
        workload = _ask(queue, _built(catalog.component(name), When.WORKLOAD), after)
        supplies[name] = Supply(controller, workload)
        if name in needed_first:
            first += controller.values()
    return supplies


def not_built(component: Component) -> tuple[str, ...]:
    """Return the images that the component's jobs may name and the embedded cluster lacks: nothing here builds them."""
    return tuple(image_name(image) for image in component.images if image.build is None and image.when is When.WORKLOAD)


def image_name(image: Image) -> str:
    """Return the full name and tag."""
    return f"{image.name}:{image.tag}"


def _needed_first(catalog: Catalog) -> set[str]:
    return set(catalog.select([name for name in SMOKE_COMPONENTS if name in catalog.components]))


def _built(component: Component, when: When | None = None) -> Iterable[Image]:
    return [image for image in component.images if image.build is not None and (when is None or image.when is when)]


def _ask(queue: BuildQueue, images: Iterable[Image], after: Sequence[Future[Path]]) -> dict[str, Future[Path]]:
    return {image_name(image): _ask_one(queue, image, after) for image in images}


def _ask_one(queue: BuildQueue, image: Image, after: Sequence[Future[Path]] = ()) -> Future[Path]:
    if isinstance(image.build, PythonBuild):
        return queue.python_image(image.build.recipe, after=after)
    assert isinstance(image.build, GoBuild)  # _built leaves no image without a build
    build = image.build
    binary = GoBinary(image.name.rpartition("/")[2], build.module, build.package, build.ldflags)
    more = {
        path: GoBinary(path.rpartition("/")[2], build.module, package, build.ldflags)
        for path, package in build.binaries.items()
    }
    return queue.image(GoImage(image_name(image), binary, build.entrypoint, build.user, more, build.files, build.shell))
