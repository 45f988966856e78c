"""`modelyard lock`: upstream.lock checked, moved forward, its digests resolved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modelyard.cli.options import cache_option
from modelyard.errors import SourceError
from modelyard.platform.workspace import Workspace

if TYPE_CHECKING:
    from modelyard.catalog import Catalog
    from modelyard.images import Mirror
    from modelyard.lock.check import Checked
    from modelyard.lock.update import Update
    from modelyard.objects import Object

LOCK = "upstream.lock"


def _registry(ctx: click.Context, param: click.Parameter, value: str | None) -> Mirror | None:
    from modelyard.images.mirror import mirror_named

    return None if value is None else mirror_named(value)


@click.command()
@click.argument("upstream", required=False)
@click.option("--check", is_flag=True, help="Check, without a network, that what is used is what is locked.")
@click.option("--update", is_flag=True, help="Move UPSTREAM to another version, or, with --digests, resolve digests.")
@click.option("--to", metavar="VERSION", help="Which version.  [default: the latest of its Go module]")
@click.option("--no-render", is_flag=True, help="Write the move without rendering it: its patches may not fit yet.")
@click.option("--digests", is_flag=True, help="Ask registries for the digest of every image.")
@click.option(
    "--registry", metavar="REGISTRY[/FOLDER]", callback=_registry, help="Ask this mirror instead of each image's own."
)
@cache_option
def lock(
    upstream: str | None,
    check: bool,
    update: bool,
    to: str | None,
    no_render: bool,
    digests: bool,
    registry: Mirror | None,
    cache_dir: Path | None,
) -> None:
    """Check upstream.lock, move one of its upstreams (or a component's), or resolve its images' digests.

    A move changes upstream.lock, the references and tags in manifests/ and overlays/, and the tags in
    component.yaml; it prints what that changes in the objects and images of each target.
    """
    from modelyard.cli.progress import PlainPrinter

    if check == update or (update and digests == (upstream is not None)) or (check and (upstream or digests)):
        raise click.UsageError("name one: --check, --update UPSTREAM, or --update --digests")
    workspace = Workspace(cache_dir, PlainPrinter(), offline=check)
    catalog = workspace.catalog()
    if check:
        _check(workspace, catalog)
    elif upstream is not None:
        _move(workspace, catalog, upstream, to, look=not no_render)
    else:
        _resolve(catalog, registry)


def _check(workspace: Workspace, catalog: Catalog) -> None:
    from modelyard.lock.check_all import check_all

    checked = check_all(catalog, lambda target, name: _objects(workspace, catalog, target, (name,)), workspace.store())
    for fault in checked.faults:
        click.echo(str(fault))
    for what in checked.unchecked:
        click.echo(f"not checked: {what}", err=True)
    checked.conclude()
    click.echo(_summary(checked))


def _summary(checked: Checked) -> str:
    rest = f"; {len(checked.unchecked)} things not checked here" if checked.unchecked else ""
    return f"{checked.references} references, {checked.images} images, {checked.trees} trees: as locked{rest}"


def _objects(workspace: Workspace, catalog: Catalog, target: str, names: Sequence[str]) -> list[Object]:
    return [obj for listed in workspace.renderer().objects(catalog, target, names).values() for obj in listed]


def _move(workspace: Workspace, catalog: Catalog, upstream: str, to: str | None, *, look: bool) -> None:
    from modelyard.catalog import load
    from modelyard.lock.check import check_builds
    from modelyard.lock.move import beside, first_pin
    from modelyard.lock.update import plan_move, try_move, write
    from modelyard.lock.uses import go_requirements

    move = plan_move(catalog, upstream, to, workspace.store())
    if move.new.ref == move.old.ref:
        if first := first_pin(catalog, move):
            write(catalog.root, first)
            click.echo(f"{move.name} is at {move.old.ref}; its digest is written")
        else:
            click.echo(f"{move.name} is at {move.old.ref} already")
        return

    def render(catalog: Catalog, target: str, names: Sequence[str]) -> list[Object]:
        return _objects(workspace, catalog, target, names)

    update = try_move(catalog, move, render if look else None)
    write(catalog.root, update.files)
    _tell(update)
    for fault in check_builds(load(catalog.root), go_requirements(catalog.root)):
        click.echo(f"still to do: {fault}", err=True)
    for name in beside(catalog, move):
        click.echo(f"still to do: upstream {name} is the same repository, at {move.old.ref}: move it too", err=True)
    click.echo("next: git diff, then modelyard lock --check", err=True)


def _tell(update: Update) -> None:
    move = update.move
    click.echo(f"{move.name}: {move.old.ref} -> {move.new.ref}")
    for path in sorted(update.files):
        click.echo(f"  edited {path}")
    for target, changes in update.changes.items():
        click.echo(f"{target}: {'' if changes else 'nothing changes'}".rstrip())
        for line in changes.lines():
            click.echo(f"  {line}")


def _resolve(catalog: Catalog, mirror: Mirror | None) -> None:
    from modelyard.lock.digests import resolve
    from modelyard.lock.edit import put
    from modelyard.lock.registry import manifest_digest
    from modelyard.lock.update import write

    found = resolve(catalog.lock.images, manifest_digest, mirror)
    text = (catalog.root / LOCK).read_text(encoding="utf-8")
    values: dict[tuple[str | int, ...], str] = {
        ("images", name, "digest"): digest for name, digest in found.digests.items()
    }
    for name, digest in found.digests.items():
        click.echo(f"{name}:{catalog.lock.images[name].tag}@{digest}")
    for name, cause in found.failures.items():
        click.echo(f"no digest of {name}: {cause}", err=True)
    if found.failures and not found.digests:
        raise SourceError(
            f"digests of {len(found.failures)} images",
            "no registry gave any; upstream.lock is as it was",
            "name a mirror that can be reached: modelyard lock --update --digests --registry HOST",
        )
    write(catalog.root, {LOCK: put(text, values, shown=LOCK)})
    click.echo(f"{len(found.digests)} digests resolved, {len(found.failures)} not")
