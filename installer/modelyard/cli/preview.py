"""What `install --dry-run` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from modelyard.errors import ApplyError

if TYPE_CHECKING:
    from modelyard.platform.install import Preview


def show(previews: Sequence[Preview]) -> None:
    """Print what would change; raise ApplyError where the apiserver would refuse something."""
    total = 0
    for each in previews:
        for change in each.changes:
            click.echo(f"{each.component}: {change.action} {change.ref}")
        total += len(each.changes)
        if each.unchecked:
            click.echo(
                f"{each.component}: {each.unchecked} objects can be checked only once their kind or namespace is there",
                err=True,
            )
    click.echo(f"{total} changes in {len(previews)} components; nothing was written")
    refused = [(each.component, ref, message) for each in previews for ref, message in each.refusals]
    for component, ref, message in refused:
        click.echo(f"{component}: refused: {ref}: {message}", err=True)
    if refused:
        raise ApplyError(
            str(refused[0][1]),
            f"the apiserver would refuse it: {refused[0][2]}",
            "fix the object, then run the same command again",
        )
