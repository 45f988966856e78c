"""All checks of upstream.lock together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from modelyard.catalog import Catalog
from modelyard.images import UsedImage
from modelyard.lock.check import (
    BROKEN,
    LOCK,
    Checked,
    check_builds,
    check_images,
    check_references,
    check_trees,
    render_all,
)
from modelyard.lock.uses import go_requirements, images_of, remote_uses
from modelyard.objects import Object
from modelyard.sources import Store


def check_all(catalog: Catalog, render: Callable[[str, str], Sequence[Object]], store: Store) -> Checked:
    """Check references, trees, images and Go modules against upstream.lock, and it against them.

    Args:
        catalog: the catalogue.
        render: target and component -> objects, without a network.
        store: upstream trees, offline.

    Raises:
        CatalogError: a kustomization cannot be read.
    """
    checked = Checked()
    text = (catalog.root / LOCK).read_text(encoding="utf-8")
    uses = remote_uses(catalog.root)
    checked.references = len(uses)
    checked.faults += check_references(catalog, uses, text)
    check_trees(catalog, store, text, checked)
    images = _images(catalog, render_all(catalog, render, checked))
    checked.images = len({image.reference for image in images})
    complete = not any(what.endswith(BROKEN) for what in checked.unchecked)
    checked.faults += sorted(set(check_images(catalog, images, text, complete=complete)))
    checked.faults += check_builds(catalog, go_requirements(catalog.root))
    return checked


def _images(catalog: Catalog, rendered: Iterable[tuple[str, Mapping[str, Sequence[Object]]]]) -> list[UsedImage]:
    """Return the images of all targets; what several targets have alike is looked through once."""
    seen: dict[str, list[Sequence[Object]]] = {}
    images: list[UsedImage] = []
    for _, outputs in rendered:
        new = {name: objects for name, objects in outputs.items() if objects not in seen.setdefault(name, [])}
        for name, objects in new.items():
            seen[name].append(objects)
        images += images_of(catalog, new)
    return images
