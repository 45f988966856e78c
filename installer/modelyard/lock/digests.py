"""Digests of images: refused where one is missing, resolved where a registry answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from modelyard.catalog import ImagePin
from modelyard.catalog.models import UNRESOLVED
from modelyard.errors import CatalogError, SourceError
from modelyard.images import Mirror, Reference, UsedImage, parse

# An image -> its manifest's digest, "sha256:..."; raises SourceError where the registry has none or is none.
Ask = Callable[[Reference], str]
_AT_ONCE = 8  # a registry that does not answer must not hold up the others


@dataclass(frozen=True, slots=True)
class Resolution:
    """What asking for every digest gave.

    Args:
        digests: new digests by full name.
        failures: why there is none, by full name.
    """

    digests: Mapping[str, str]
    failures: Mapping[str, str]


def refuse_unresolved(images: Iterable[UsedImage]) -> None:
    """Check that every image has a digest.

    Raises:
        CatalogError: some have none; all of them are named.
    """
    lacking = sorted({str(image.reference) for image in images if not image.digest})
    if lacking:
        raise CatalogError(
            "upstream.lock",
            f"has no digest for {len(lacking)} of the images, and digests are required: {', '.join(lacking)}",
            "modelyard lock --update --digests, where the registries (or, with --registry, a mirror) can be reached",
        )


def resolve(pins: Mapping[str, ImagePin], ask: Ask, mirror: Mirror | None = None) -> Resolution:
    """Ask for the digest of every pinned image.

    Args:
        pins: images of upstream.lock.
        ask: asks a registry.
        mirror: ask it for its copies, not the images' own registries.

    Raises:
        SourceError: a tag has another digest than the locked one: somebody moved it.
    """
    digests: dict[str, str] = {}
    failures: dict[str, str] = {}

    def answer(name: str) -> str | SourceError:
        image = parse(f"{name}:{pins[name].tag}")
        if image is None:
            return SourceError(f"image {name}", f"{name}:{pins[name].tag} is not an image reference")
        try:
            return ask(mirror.of(image) if mirror else image)
        except SourceError as error:
            return error

    names = sorted(pins)
    with ThreadPoolExecutor(_AT_ONCE, "digests") as pool:
        for name, found in zip(names, pool.map(answer, names), strict=True):
            if isinstance(found, SourceError):
                failures[name] = found.cause
            else:
                _refuse_moved(f"{name}:{pins[name].tag}", name, pins[name], found)
                digests[name] = found
    return Resolution(digests, failures)


def _refuse_moved(image: str, name: str, pin: ImagePin, digest: str) -> None:
    if pin.digest not in (UNRESOLVED, digest):
        raise SourceError(
            f"image {image}",
            f"is {digest} in the registry now, upstream.lock has {pin.digest}: its tag was moved",
            f"find out who moved it; if it is meant, set images.{name}.digest to {UNRESOLVED} and run this again",
        )
