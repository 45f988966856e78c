"""`modelyard images`: every image of a target, where it is named, and what a mirror calls it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modelyard.cli.composing import composing_options
from modelyard.cli.options import cache_option, mirror_option
from modelyard.platform.asked import Asked
from modelyard.platform.settled import tell_pulled_in

if TYPE_CHECKING:
    from modelyard.images import Mirror, Place, UsedImage

_BY_JOBS = "component.yaml (jobs use it)"
_UNRESOLVED = "unresolved"


@click.command()
@composing_options("all of the target's")
@mirror_option
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "text", "json"]),
    default="table",
    show_default=True,
    help="Form; text is one image a line, with --mirror its old and its new name.",
)
@cache_option
def images(
    asked: Asked,
    output: str,
    cache_dir: Path | None,
) -> None:
    """List the images of a target, also those hidden in arguments, variables, ConfigMaps and custom resources.

    Beside them stand the images that no object names because only jobs use them. With --mirror, each comes with
    the name that its copy has in that registry, ready for skopeo or crane.
    """
    from modelyard.cli.progress import PlainPrinter
    from modelyard.platform.list_images import list_images

    emit = PlainPrinter()
    listed = list_images(asked, cache_dir, emit)
    tell_pulled_in(listed.pulled_in, emit)
    target, found = listed.target, listed.images
    if output == "json":
        click.echo(json.dumps(document(target, found, asked.mirror), indent=2))
    elif output == "text":
        for line in sorted({_line(image, asked.mirror) for image in found}):
            click.echo(line)
    else:
        _table(found, asked.mirror)


def document(target: str, found: Sequence[UsedImage], mirror: Mirror | None) -> dict[str, object]:
    """Return the images as JSON has them."""
    return {
        "apiVersion": "modelyard.dev/v1",
        "kind": "Images",
        "target": target,
        "mirror": str(mirror) if mirror else None,
        "images": [_item(image, mirror) for image in found],
    }


def _item(image: UsedImage, mirror: Mirror | None) -> dict[str, object]:
    item: dict[str, object] = {
        "image": _source(image),
        "name": image.reference.name,
        "tag": image.reference.tag,
        "digest": image.digest or _UNRESOLVED,
        "component": image.component,
        "places": [_place(place) for place in image.places],
    }
    return item | ({"mirrored": _copy(image, mirror)} if mirror else {})


def _place(place: Place) -> dict[str, str]:
    ref = place.object
    return {
        "group": ref.group,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
        "path": place.path,
    }


def _source(image: UsedImage) -> str:
    """Return where it is copied from: by digest, where it is known."""
    pinned = f"@{image.digest}" if image.digest and not image.reference.digest else ""
    return f"{image.reference}{pinned}"


def _copy(image: UsedImage, mirror: Mirror) -> str:
    """Return where it is copied to: tools write to a tag; one that has none keeps its digest."""
    copy = mirror.of(image.reference)
    return f"{copy.name}:{copy.tag}" if copy.tag else str(copy)


def _line(image: UsedImage, mirror: Mirror | None) -> str:
    source = _source(image)
    return f"{_without_tag(source, image)} {_copy(image, mirror)}" if mirror else source


def _without_tag(source: str, image: UsedImage) -> str:
    """Drop the tag where there is a digest too: skopeo refuses a name that has both."""
    digest = image.reference.digest or image.digest
    return f"{image.reference.name}@{digest}" if digest else source


def _table(found: Sequence[UsedImage], mirror: Mirror | None) -> None:
    rows = [("COMPONENT", "IMAGE", "DIGEST", "MIRRORED AS" if mirror else "FOUND IN")]
    for image in found:
        first = (image.component, str(image.reference), image.digest or _UNRESOLVED)
        if mirror:
            rows.append((*first, _copy(image, mirror)))
            continue
        places = [str(place) for place in image.places] or [_BY_JOBS]
        rows.append((*first, places[0]))
        rows += [("", "", "", place) for place in places[1:]]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, row[3]]).rstrip())
