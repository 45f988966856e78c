"""`modelyard render`: a target's manifests on stdout."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from modelyard.cli.composing import DEFAULT_TARGET, Asked, composing_options, tell_pulled_in
from modelyard.cli.options import cache_option, mirror_option
from modelyard.cli.workspace import Workspace
from modelyard.render.cache import Index
from modelyard.render.fingerprint import of_catalogue


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

    emit = PlainPrinter()
    workspace = Workspace(cache_dir, emit)
    folder = asked.overlay.resolve() if asked.overlay is not None and asked.overlay.is_dir() else None
    chosen = str((asked.profile, asked.added, asked.left_out, asked.components))
    # With an overlay the default is its own target, not that of the catalogue: --target local may then be refused.
    target = asked.target or (DEFAULT_TARGET if asked.overlay is None else "")
    options = (target, str(folder or asked.overlay), chosen, str(asked.mirror or ""))
    fingerprint = of_catalogue(workspace.root, *options, overlay=folder)
    index = workspace.rendered.index(fingerprint)
    parts = _cached(workspace, index.keys) if index is not None else None
    if index is None or parts is None:
        index = _render(workspace, asked)
        workspace.rendered.keep_index(fingerprint, index)
        parts = _cached(workspace, index.keys) or []
    tell_pulled_in(index.pulled_in, emit)
    _write(parts)


def _cached(workspace: Workspace, keys: dict[str, str]) -> list[bytes] | None:
    """Return all parts, or None where one is gone from the cache."""
    parts = [workspace.rendered.text(key) for key in keys.values()]
    found = [part for part in parts if part is not None]
    return found if len(found) == len(parts) else None


def _render(workspace: Workspace, asked: Asked) -> Index:
    from modelyard.render.rewritten import rewriting_for

    catalog, target = asked.open(workspace.catalog())
    composition = asked.compose(catalog, target)
    rewriting = rewriting_for(catalog, target, asked.mirror)
    keys = workspace.renderer().keys(catalog, target, composition.names, rewriting=rewriting)
    return Index(keys, dict(composition.pulled_in))


def _write(parts: list[bytes]) -> None:
    out = sys.stdout.buffer
    for number, part in enumerate(parts):
        if number:
            out.write(b"---\n")
        out.write(part)
    out.flush()
