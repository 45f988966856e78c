"""The images of a target: what its rendered objects name, and what its jobs use beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from modelyard.images.find import Place, find
from modelyard.images.pin import Pins
from modelyard.images.reference import Reference, parse
from modelyard.objects import Object


@dataclass(frozen=True, slots=True)
class Declared:
    """An image of a component.yaml; `workload`: only jobs use it, so that no rendered object need name it."""

    component: str
    name: str
    tag: str
    workload: bool


@dataclass(frozen=True, slots=True)
class UsedImage:
    """An image that a component uses.

    Args:
        component: whose objects name it, or whose component.yaml declares it.
        reference: the image as found.
        digest: of upstream.lock or of the reference itself; empty where it is not resolved.
        places: where it was found; empty for one that only component.yaml declares.
    """

    component: str
    reference: Reference
    digest: str
    places: tuple[Place, ...]


def used(rendered: Mapping[str, Iterable[Object]], declared: Sequence[Declared], pins: Pins) -> list[UsedImage]:
    """Return the images of rendered components by name, tag and component.

    Args:
        rendered: component -> objects, before any rewriting.
        declared: images of the components' component.yaml.
        pins: resolved digests of upstream.lock.
    """
    names = {each.name for each in declared}
    places: dict[tuple[Reference, str], list[Place]] = {}
    for component, objects in rendered.items():
        for found in find(objects, names):
            places.setdefault((found.reference, component), []).append(found.place)
    for each in declared:
        reference = parse(f"{each.name}:{each.tag}")
        if each.workload and each.component in rendered and reference is not None:
            places.setdefault((reference, each.component), [])
    return [
        UsedImage(component, reference, _digest(reference, pins), tuple(found))
        for (reference, component), found in sorted(places.items())
    ]


def _digest(reference: Reference, pins: Pins) -> str:
    tag, digest = pins.get(reference.name, ("", ""))
    return reference.digest or (digest if tag == reference.tag else "")
