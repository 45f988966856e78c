"""`modelyard render`: a target's manifests on stdout."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from modelyard.cli.composing import composing_options
from modelyard.cli.options import cache_option, mirror_option
from modelyard.platform.asked import Asked
from modelyard.platform.settled import tell_pulled_in


@click.command()
@composing_options("all of the target's")
@mirror_option
@cache_option
def render(
    asked: Asked,
    cache_dir: Path | None,
) -> None:
    """Print the manifests of a target, component by component, in the order of installation.

    What comes out is what `kustomize build` makes of overlays/<target>, from the upstream trees that
    upstream.lock names; with --overlay what it makes of that folder. Images get the digests that upstream.lock
    has and, with --mirror, the mirror's names.
    """
    from modelyard.cli.progress import PlainPrinter
    from modelyard.platform import render as platform_render

    emit = PlainPrinter()
    found = platform_render.render(asked, cache_dir, emit)
    tell_pulled_in(found.pulled_in, emit)
    _write(found.parts)


def _write(parts: Sequence[bytes]) -> None:
    out = sys.stdout.buffer
    for number, part in enumerate(parts):
        if number:
            out.write(b"---\n")
        out.write(part)
    out.flush()
