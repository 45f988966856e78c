"""`modelyard new`: folders that pass every check at once, to go on from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modelyard.paths import data_root, is_packaged

if TYPE_CHECKING:
    from modelyard.catalog import Catalog
    from modelyard.scaffold import Draft


@click.group(name="new")
def new() -> None:
    """Begin a component, a target or an overlay of your own.

    What is written renders, installs and keeps the rules of the manifests as it is. A folder that exists is never
    written to.
    """


@new.command()
@click.argument("name", metavar="AREA/NAME")
@click.option(
    "--target", "targets", multiple=True, help="Only for this one and those on it; may be repeated.  [default: all]"
)
def component(name: str, targets: tuple[str, ...]) -> None:
    """Begin a component, in manifests/AREA/NAME and in an overlay of each target.

    It goes into the profile `full` of each target. Run it in a clone.
    """
    from modelyard.scaffold import new_component

    area, slash, short = name.partition("/")
    if not slash:
        raise click.UsageError(f"{name!r} is not AREA/NAME, as in observability/hello.")
    before = _catalogue()
    draft = new_component(before, area, short, targets)
    _write(draft, f"modelyard render --component {short}")
    rest = sorted(set(before.targets) - {path.parent.name for path in draft.edits})
    if rest:
        click.echo(
            f"not on {', '.join(rest)}: say in their target.yaml that it is `offered`, or in `leavesOut` why not"
        )


@new.command()
@click.argument("name")
@click.option("--base", default="local", show_default=True, help="The target that it is on.")
def target(name: str, base: str) -> None:
    """Begin a target, in overlays/NAME, that is as another one in all. Run it in a clone."""
    from modelyard.scaffold import new_target

    _write(new_target(_catalogue(), name, base), f"modelyard render --target {name}")


@new.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--target", "base", default="local", show_default=True, help="The target that it is on.")
@click.option("--component", "components", multiple=True, help="One that will differ; may be repeated.")
def overlay(folder: Path, base: str, components: tuple[str, ...]) -> None:
    """Begin an overlay of your own, in the new folder DIR, that is as a target in all.

    Its paths lead to where this modelyard has its manifests: keep the two where they are, or change the paths.
    """
    from modelyard import catalog
    from modelyard.scaffold import new_overlay

    draft = new_overlay(catalog.load(data_root()), folder, base, components)
    _write(draft, f"modelyard render --overlay {folder}")


def _catalogue() -> Catalog:
    """Return the clone's catalogue; refuse to write into an installed package."""
    from modelyard import catalog
    from modelyard.errors import RefusalError

    root = data_root()
    if is_packaged(root):
        raise RefusalError(
            str(root), "is an installed package, which the next upgrade replaces", "run it in a clone (MODELYARD_ROOT)"
        )
    return catalog.load(root)


def _write(draft: Draft, then: str) -> None:
    draft.write()
    for folder in sorted(draft.folders):
        click.echo(f"new: {os.path.relpath(folder)}")
    for path in sorted(draft.edits):
        click.echo(f"changed: {os.path.relpath(path)}")
    click.echo(f"next: {then}")
