"""`modelyard conformance`."""

from __future__ import annotations

from pathlib import Path

import click

from modelyard.cli.options import cluster_options, name_option
from modelyard.platform.conform import Request, conform
from modelyard.platform.where import Where


@click.command()
@click.option("--area", "areas", multiple=True, help="Only this area; may be repeated.  [default: all]")
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write a JUnit report to this file.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write an HTML report to this file.")
@click.option(
    "-j", "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Tests at once; >1: pytest-xdist."
)
@click.option("--patience", type=float, help="Wait for nothing longer than so many seconds, whatever a test allows.")
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Add to this proof record which components the passed tests prove. In a clone only.",
)
@click.option("-k", "--select", help="Only tests whose names match, as pytest's -k.")
@cluster_options
@name_option
@click.pass_context
def conformance(
    ctx: click.Context,
    areas: tuple[str, ...],
    junit: Path | None,
    html: Path | None,
    jobs: int,
    patience: float | None,
    record: Path | None,
    select: str | None,
    kubeconfig: Path | None,
    context: str | None,
    name: str | None,
) -> None:
    """Prove the platform: real jobs on a real cluster, and their results.

    Exit codes: 0 all passed, 1 a test failed, 2 the suite could not run.
    """
    request = Request(
        where=Where(kubeconfig=kubeconfig, context=context, name=name),
        areas=areas,
        select=select,
        jobs=jobs,
        patience=patience,
        junit=junit,
        html=html,
        record=record,
    )
    ctx.exit(conform(request))
