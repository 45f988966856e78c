"""`modelyard doctor`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from modelyard.cli.composing import composing_options
from modelyard.cli.options import cluster_options, output_option
from modelyard.errors import HostError
from modelyard.platform.asked import Asked
from modelyard.platform.doctor import Line, diagnose, passed
from modelyard.platform.where import Where


@click.command()
@composing_options("core")
@cluster_options
@output_option
@click.pass_context
def doctor(ctx: click.Context, asked: Asked, kubeconfig: Path | None, context: str | None, output: str) -> None:
    """Check what an install needs, before it; what is missing comes with the command that fixes it.

    On target `local`, the default, that is this machine. On all others it is the cluster: what the target's page
    "before you install" lists for these components.
    """
    lines = diagnose(asked, Where(kubeconfig=kubeconfig, context=context))
    if output == "json":
        click.echo(json.dumps(document(lines), indent=2))
    else:
        _table(lines)
    if not passed(lines):
        ctx.exit(HostError.exit_code)


def document(lines: Sequence[Line]) -> dict[str, object]:
    """Return the checks as JSON has them; `ok` is null where only people can see whether it is there."""
    return {
        "apiVersion": "modelyard.dev/v1",
        "kind": "Doctor",
        "ok": passed(lines),
        "checks": [
            {
                "name": line.name,
                "ok": line.ok,
                "found": line.found,
                "needed": line.needed,
                "remedy": line.remedy,
            }
            for line in lines
        ],
    }


_MARKS = {True: "ok     ", False: "missing", None: "look   "}


def _table(lines: Sequence[Line]) -> None:
    width = max((len(line.name) for line in lines), default=0)
    for line in lines:
        needed = "" if line.ok else f" (needed: {line.needed})"
        click.echo(f"{_MARKS[line.ok]}  {line.name.ljust(width)}  {line.found}{needed}")
        if line.remedy:
            click.echo(f"         fix: {line.remedy}")
