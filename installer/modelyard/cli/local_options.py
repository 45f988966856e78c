"""The options of `install` that are about an embedded cluster, and mean nothing for any other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from modelyard.cli.options import name_option

_NAMES = ("name", "nodes", "fake_nodes", "fake_gpus", "port", "smoke")


def local_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options; the command takes all of them as one argument, an EmbeddedOptions: `embedded`."""

    @wraps(command)
    def composed(**options: Any) -> None:
        from modelyard.platform.clusters.protocol import EmbeddedOptions

        own = {name: options.pop(name) for name in _NAMES}
        command(embedded=EmbeddedOptions(**own, given=_given(own)), **options)

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


def _given(options: Mapping[str, object]) -> tuple[str, ...]:
    """Return those that were given on the command line: $MODELYARD_NAME is none of them."""
    context = click.get_current_context()
    return tuple(
        _shown(name, value)
        for name, value in options.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    )


def _shown(name: str, value: object) -> str:
    option = name.replace("_", "-")
    return f"--no-{option}" if value is False else f"--{option}"
