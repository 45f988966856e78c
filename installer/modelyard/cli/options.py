"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from modelyard.images import Mirror
    from modelyard.platform.asked import Named

F = TypeVar("F", bound=Callable[..., Any])

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class Duration(click.ParamType[float]):
    """A time span: "90", "90s", "5m", "1h"; its value is in seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds."""
        if isinstance(value, int | float):
            return float(value)
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h|d|)", str(value))
        if found is None or float(found[1]) == 0:
            self.fail(f"{value!r} is not a duration; write 90s, 5m, 1h or 30d", param, ctx)
        return float(found[1]) * _UNITS[found[2]]


class Size(click.ParamType[int]):
    """An amount of disk space: "500M", "20G"; its value is in bytes."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return bytes."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)B?", str(value))
        if found is None:
            self.fail(f"{value!r} is not a size; write 500M or 20G", param, ctx)
        return int(float(found[1]) * _SIZES[found[2]])


def cluster_options(command: F) -> F:
    """Add --kubeconfig and --context."""
    command = click.option(
        "--kubeconfig",
        type=click.Path(path_type=Path),
        help="Kubeconfig file.  [default: $KUBECONFIG, else ~/.kube/config]",
    )(command)
    return click.option("--context", help="Context of the kubeconfig.  [default: the current one]")(command)


def name_option(command: F) -> F:
    """Add --name, of an embedded cluster."""
    return click.option("--name", envvar="MODELYARD_NAME", show_envvar=True, help="The embedded cluster of that name.")(
        command
    )


def target_option(command: F) -> F:
    """Add --target."""
    return click.option(
        "--target", help="What is installed on: overlays/<target>.  [default: that of --overlay, else local]"
    )(command)


def component_option(command: F) -> F:
    """Add --component, which may be repeated."""
    return click.option("--component", "components", multiple=True, help="Only this one; may be repeated.")(command)


def mirror_option(command: F) -> F:
    """Add --mirror; its value is a Mirror, or None."""
    return click.option(
        "--mirror",
        metavar="REGISTRY[/FOLDER]",
        callback=_mirror,
        help="Take all images from this registry: each old name, with its registry, becomes a path below it.",
    )(command)


def _mirror(ctx: click.Context, param: click.Parameter, value: str | None) -> Mirror | None:
    from modelyard.images.mirror import mirror_named

    return None if value is None else mirror_named(value)


def recreate_option(command: F) -> F:
    """Add --recreate, which may be repeated; its value is a tuple of Named."""
    return click.option(
        "--recreate",
        metavar="KIND/[NAMESPACE/]NAME",
        multiple=True,
        callback=_named,
        help="Delete and create this object again if its change is one that the apiserver does not make; may be "
        "repeated.",
    )(command)


def _named(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[Named, ...]:
    from modelyard.platform.asked import to_recreate

    try:
        return tuple(to_recreate(value) for value in values)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error


def timeout_option(default: str) -> Callable[[F], F]:
    """Return a decorator that adds --timeout."""
    return click.option(
        "--timeout", type=Duration(), default=default, show_default=True, help="How long each wait may last."
    )


def cache_option(command: F) -> F:
    """Add --cache-dir."""
    return click.option(
        "--cache-dir",
        type=click.Path(path_type=Path),
        help="Where built and rendered things are kept.  [default: $MODELYARD_CACHE_DIR, else ~/.cache/modelyard]",
    )(command)


def output_option(command: F) -> F:
    """Add -o/--output."""
    return click.option(
        "-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True, help="Form."
    )(command)
