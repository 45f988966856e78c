"""The options that say which components a command is about, as one object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any

import click

from modelyard.cli.options import component_option, target_option
from modelyard.platform.asked import Asked, read_values_file


def composing_options(profile: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds --target, --overlay, --values, --profile, --with, --without and --component.

    The command takes all of them, and its own --mirror, --no-mirror, --no-overlay, --no-values, --adopt and --recreate
    if it has them, as one argument: `asked`.

    Args:
        profile: what --profile is where it is not given, for people.
    """

    def add(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def composed(**options: Any) -> None:
            given = {field.name: options.pop(field.name) for field in fields(Asked) if field.name in options}
            if given["values"] is not None:
                given["values"] = read_values_file(given["values"])
            asked = Asked(**given)
            _refuse_contradictions(asked)
            command(asked=asked, **options)

        for option in (
            component_option,
            click.option(
                "--without", "left_out", multiple=True, help="Leave this component out; may be repeated.", metavar="C"
            ),
            click.option("--with", "added", multiple=True, help="This component too; may be repeated.", metavar="C"),
            click.option("--profile", help=f"Which components, as target.yaml lists them.  [default: {profile}]"),
            click.option(
                "--values",
                type=click.Path(path_type=Path, dir_okay=False),
                help="What your site sets, such as a quota: a YAML file of values (docs/how-to/values.md).",
            ),
            click.option(
                "--overlay", type=click.Path(path_type=Path), help="Your own overlay, a folder with a target.yaml."
            ),
            target_option,
        ):
            composed = option(composed)
        return composed

    return add


def _refuse_contradictions(asked: Asked) -> None:
    if asked.components and (asked.profile or asked.added or asked.left_out):
        raise click.UsageError(
            "--component is about these components alone; it goes with neither --profile, --with nor --without."
        )
    if asked.overlay is not None and asked.no_overlay:
        raise click.UsageError("--overlay and --no-overlay contradict each other.")
    if asked.values is not None and asked.no_values:
        raise click.UsageError("--values and --no-values contradict each other.")
    if asked.mirror is not None and asked.no_mirror:
        raise click.UsageError("--mirror and --no-mirror contradict each other.")
