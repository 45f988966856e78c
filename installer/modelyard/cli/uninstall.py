"""`modelyard uninstall`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from modelyard.cli.command import this_command
from modelyard.cli.options import cluster_options, component_option, name_option, timeout_option
from modelyard.cli.progress import printing, span

if TYPE_CHECKING:
    from modelyard.platform.uninstall import Removal


@click.command()
@component_option
@cluster_options
@name_option
@timeout_option("5m")
@click.option(
    "--delete-data", is_flag=True, help="Also delete users' objects of its kinds, and namespaces with what is in them."
)
@click.option(
    "--lost",
    is_flag=True,
    help="Also remove components whose inventories are lost: all that an install has applied for them.",
)
@click.option(
    "--remove-finalizers",
    is_flag=True,
    help="Take finalizers off what is deleted and does not go: at once where the controller cannot be brought back, "
    "else after --timeout. What the controller would clean up (cloud machines, data elsewhere) stays.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
def uninstall(
    components: tuple[str, ...],
    kubeconfig: Path | None,
    context: str | None,
    name: str | None,
    timeout: float,
    delete_data: bool,
    lost: bool,
    remove_finalizers: bool,
    yes: bool,
) -> None:
    """Remove what was installed, backwards, and nothing else.

    Custom resources go while their controllers live; those that were scaled to zero are brought back first. Where a
    CustomResourceDefinition holds users' objects, nothing is removed unless --delete-data says so.
    """
    from modelyard.platform import uninstall as platform_uninstall
    from modelyard.platform.where import Where

    request = platform_uninstall.Request(
        where=Where(kubeconfig=kubeconfig, context=context, name=name),
        components=components,
        timeout=timeout,
        delete_data=delete_data,
        lost=lost,
        remove_finalizers=remove_finalizers,
        command=this_command(),
    )
    planned = platform_uninstall.plan(request)
    if not planned.removal.order:
        click.echo("nothing is installed")
        return
    if not yes:  # before anything moves on the terminal
        _ask(planned.removal, planned.session.server, delete_data=delete_data)
    with printing() as emit:
        removed = platform_uninstall.uninstall(planned, emit)
    click.echo(f"{len(removed.components)} components removed ({span(removed.seconds)})")


def _ask(removal: Removal, server: str, *, delete_data: bool) -> None:
    click.echo(f"from {server}: {', '.join(removal.order)} ({removal.count} objects)", err=True)
    for owner in sorted(set(removal.adopted.values())):
        adopted = sum(whose == owner for whose in removal.adopted.values())
        click.echo(f"{adopted} of them were adopted, and somebody else's before: {owner}", err=True)
    if delete_data and removal.held:
        users = sum(len(refs) for refs in removal.held.values())
        click.echo(f"and {users} objects of users: this cannot be undone", err=True)
    click.confirm("remove all that?", abort=True, err=True)
