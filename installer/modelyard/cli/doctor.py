"""`modelyard doctor`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from modelyard.cli.options import output_option
from modelyard.errors import HostError

if TYPE_CHECKING:
    from modelyard.local.runtime.preflight import Check


@click.command()
@output_option
@click.pass_context
def doctor(ctx: click.Context, output: str) -> None:
    """Check what the embedded cluster needs of this machine; each lack comes with the command that mends it."""
    from modelyard.local.runtime.host import gather
    from modelyard.local.runtime.preflight import checks
    from modelyard.paths import cache_dir, state_dir

    found = checks(gather(state_dir(), cache_dir()))
    if output == "json":
        click.echo(json.dumps(document(found), indent=2))
    else:
        _table(found)
    if not all(check.ok for check in found):
        ctx.exit(HostError.exit_code)


def document(found: Sequence[Check]) -> dict[str, object]:
    """Return the checks as JSON has them."""
    return {
        "apiVersion": "modelyard.dev/v1",
        "kind": "Doctor",
        "ok": all(check.ok for check in found),
        "checks": [
            {
                "name": check.name,
                "ok": check.ok,
                "found": check.found,
                "needed": check.needed,
                "remedy": check.remedy,
            }
            for check in found
        ],
    }


def _table(found: Sequence[Check]) -> None:
    width = max((len(check.name) for check in found), default=0)
    for check in found:
        mark = "ok  " if check.ok else "LACK"
        needed = "" if check.ok else f" (needed: {check.needed})"
        click.echo(f"{mark}  {check.name.ljust(width)}  {check.found}{needed}")
        if check.remedy:
            click.echo(f"      next: {check.remedy}")
