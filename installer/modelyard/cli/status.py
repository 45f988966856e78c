"""`modelyard status`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modelyard.cli.options import cluster_options, name_option, output_option
from modelyard.errors import NotReadyError

if TYPE_CHECKING:
    from modelyard.platform.status import ComponentStatus


@click.command()
@cluster_options
@name_option
@output_option
@click.pass_context
def status(ctx: click.Context, kubeconfig: Path | None, context: str | None, name: str | None, output: str) -> None:
    """Show what is installed and whether it is ready; exit with 0 only if all of it is."""
    from modelyard.platform import status as platform_status
    from modelyard.platform.where import Where

    found = platform_status.status(Where(kubeconfig=kubeconfig, context=context, name=name))
    if output == "json":
        click.echo(json.dumps(document(found), indent=2))
    else:
        _table(found)
    if not found or not all(each.ready for each in found):
        ctx.exit(NotReadyError.exit_code)


def document(found: Sequence[ComponentStatus]) -> dict[str, object]:
    """Return the status as JSON has it."""
    return {
        "apiVersion": "modelyard.dev/v1",
        "kind": "Status",
        "components": [
            {"name": each.name, "version": each.version, "ready": each.ready, "reason": each.reason} for each in found
        ],
    }


def _table(found: Sequence[ComponentStatus]) -> None:
    if not found:
        click.echo("nothing is installed")
        click.echo("next: modelyard install", err=True)
        return
    rows = [("COMPONENT", "VERSION", "READY", "OBJECTS", "REASON")]
    rows += [
        (each.name, each.version or "-", "yes" if each.ready else "NO", str(each.objects), each.reason)
        for each in found
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, row[4]]).rstrip())
