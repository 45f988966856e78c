"""The options of `install` that are about an embedded cluster, and mean nothing for any other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from modelyard.cli.clusters import DEFAULT_NAME
from modelyard.cli.options import name_option


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOptions:
    """What a command line says of an embedded cluster; None: as before, or the default."""

    name: str | None
    nodes: int | None
    fake_nodes: int | None
    fake_gpus: int | None
    port: int | None
    smoke: bool | None

    @property
    def cluster(self) -> str:
        """Return the embedded cluster's name."""
        return self.name or DEFAULT_NAME

    def refuse(self, why: str) -> None:
        """Refuse those that were given on the command line, where they mean nothing.

        Args:
            why: what stands against them, to go after "not with".

        Raises:
            UsageError: one of them was; $MODELYARD_NAME alone is no reason.
        """
        context = click.get_current_context()
        given = [
            _shown(field.name, getattr(self, field.name))
            for field in fields(self)
            if context.get_parameter_source(field.name) is ParameterSource.COMMANDLINE
        ]
        if given:
            verb = "goes" if len(given) == 1 else "go"
            raise click.UsageError(f"{', '.join(given)} {verb} with an embedded cluster, not with {why}.")


def local_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options; the command takes all of them as one argument: `local`."""

    @wraps(command)
    def composed(**options: Any) -> None:
        given = {field.name: options.pop(field.name) for field in fields(LocalOptions)}
        command(local=LocalOptions(**given), **options)

    for option in (
        click.option(
            "--smoke/--no-smoke",
            default=None,
            help="local: run a job through the queue at the end.  "
            "[default: unless it passed before on the same platform]",
        ),
        click.option("--port", type=int, help="local: port on 127.0.0.1.  [default: as before, else a free one]"),
        click.option("--fake-gpus", type=int, help="local: GPUs of each simulated node.  [default: as before, else 0]"),
        click.option("--fake-nodes", type=int, help="local: number of simulated nodes.  [default: as before, else 0]"),
        click.option("--nodes", type=int, help="local: number of nodes.  [default: as before, else 1]"),
        name_option,
    ):
        composed = option(composed)
    return composed


def _shown(name: str, value: object) -> str:
    option = name.replace("_", "-")
    return f"--no-{option}" if value is False else f"--{option}"
