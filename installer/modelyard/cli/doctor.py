"""`modelyard doctor`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modelyard.cli.composing import DEFAULT_TARGET, Asked, composing_options
from modelyard.cli.options import cluster_options, output_option
from modelyard.errors import HostError

if TYPE_CHECKING:
    from modelyard.local.runtime.preflight import Check
    from modelyard.plan.prerequisites import Verdict


@dataclass(frozen=True, slots=True)
class Line:
    """One check as it is shown.

    Args:
        name: what is checked.
        ok: whether it is there; None where only people can see that.
        found: what is there, in words.
        needed: what is needed, in words.
        remedy: the next command, or what to do; empty where it is ok.
    """

    name: str
    ok: bool | None
    found: str
    needed: str
    remedy: str


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
    lines = _lines(asked, kubeconfig, context)
    if output == "json":
        click.echo(json.dumps(document(lines), indent=2))
    else:
        _table(lines)
    if not _passed(lines):
        ctx.exit(HostError.exit_code)


def document(lines: Sequence[Line]) -> dict[str, object]:
    """Return the checks as JSON has them; `ok` is null where only people can see whether it is there."""
    return {
        "apiVersion": "modelyard.dev/v1",
        "kind": "Doctor",
        "ok": _passed(lines),
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


def _lines(asked: Asked, kubeconfig: Path | None, context: str | None) -> list[Line]:
    if asked.target in (None, DEFAULT_TARGET) and asked.overlay is None:
        if kubeconfig is not None or context is not None:
            raise click.UsageError("--kubeconfig and --context name a cluster; add the --target that it is to be.")
        return _of_machine()
    from modelyard.catalog import load
    from modelyard.paths import data_root

    catalog, target = asked.open(load(data_root()))
    if catalog.base(target) == DEFAULT_TARGET:
        return _of_machine()
    from modelyard.apply import check_prerequisites
    from modelyard.catalog.choice import DEFAULT_PROFILE
    from modelyard.cluster import connect
    from modelyard.plan.prerequisites import asked_for

    whole = bool(asked.components or asked.profile)
    names = (asked if whole else replace(asked, profile=DEFAULT_PROFILE)).compose(catalog, target).names
    prerequisites = asked_for(catalog.inherited(target), catalog.select(names))
    return [_of_cluster(each) for each in check_prerequisites(connect(kubeconfig, context), prerequisites)]


def _of_machine() -> list[Line]:
    from modelyard.local.runtime.host import gather
    from modelyard.local.runtime.preflight import checks
    from modelyard.paths import cache_dir, state_dir

    return [_of_host(each) for each in checks(gather(state_dir(), cache_dir()))]


def _of_host(check: Check) -> Line:
    return Line(check.name, check.ok, check.found, check.needed, check.remedy)


def _of_cluster(verdict: Verdict) -> Line:
    wanted = verdict.prerequisite
    remedy = "" if verdict.ok or verdict.ok is None else wanted.fix
    return Line(verdict.name, verdict.ok, verdict.found, wanted.what, remedy)


def _passed(lines: Sequence[Line]) -> bool:
    return all(line.ok is not False for line in lines)


_MARKS = {True: "ok     ", False: "missing", None: "look   "}


def _table(lines: Sequence[Line]) -> None:
    width = max((len(line.name) for line in lines), default=0)
    for line in lines:
        needed = "" if line.ok else f" (needed: {line.needed})"
        click.echo(f"{_MARKS[line.ok]}  {line.name.ljust(width)}  {line.found}{needed}")
        if line.remedy:
            click.echo(f"         fix: {line.remedy}")
