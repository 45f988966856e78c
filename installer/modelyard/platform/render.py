"""Render a target's manifests. Nothing that is slow to import is imported where the cache has all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from modelyard.events import Emit
from modelyard.platform.asked import DEFAULT_TARGET, Asked
from modelyard.platform.workspace import Workspace
from modelyard.render.cache import Index
from modelyard.render.fingerprint import of_catalogue


@dataclass(frozen=True, slots=True)
class Rendering:
    """Manifests.

    Args:
        parts: a component's YAML each, in the order of installation.
        pulled_in: components that come only because others require them, with those.
    """

    parts: Sequence[bytes]
    pulled_in: Mapping[str, tuple[str, ...]]


def render(asked: Asked, cache_dir: Path | None, emit: Emit) -> Rendering:
    """Return what a target is rendered to, component by component.

    Args:
        asked: the target and the components; all of the target's unless it says which.
        cache_dir: --cache-dir.
        emit: takes events of tools that must be built.

    Raises:
        CatalogError: a name is not there, or the overlay is not valid.
        SourceError: an upstream tree cannot be had.
        RenderError: kustomize refused a component.
    """
    workspace = Workspace(cache_dir, emit)
    folder = asked.overlay.resolve() if asked.overlay is not None and asked.overlay.is_dir() else None
    chosen = str((asked.profile, asked.added, asked.left_out, asked.components))
    # With an overlay the default is its own target, not that of the catalogue: --target local may then be refused.
    target = asked.target or (DEFAULT_TARGET if asked.overlay is None else "")
    options = (target, str(folder or asked.overlay), chosen, str(asked.mirror or ""), str(asked.values))
    fingerprint = of_catalogue(workspace.root, *options, overlay=folder)
    index = workspace.rendered.index(fingerprint)
    parts = _cached(workspace, index.keys) if index is not None else None
    if index is None or parts is None:
        index = _render(workspace, asked)
        workspace.rendered.keep_index(fingerprint, index)
        parts = _cached(workspace, index.keys) or []
    return Rendering(parts, index.pulled_in)


def _cached(workspace: Workspace, keys: dict[str, str]) -> list[bytes] | None:
    """Return all parts, or None where one is gone from the cache."""
    parts = [workspace.rendered.text(key) for key in keys.values()]
    found = [part for part in parts if part is not None]
    return found if len(found) == len(parts) else None


def _render(workspace: Workspace, asked: Asked) -> Index:
    from modelyard.catalog.values import by_component
    from modelyard.render.rewritten import rewriting_for

    catalog, target = asked.open(workspace.catalog())
    composition = asked.compose(catalog, target)
    rewriting = rewriting_for(catalog, target, asked.mirror)
    values = by_component(asked.site_values(catalog, target))
    keys = workspace.renderer().keys(catalog, target, composition.names, values, rewriting)
    return Index(keys, dict(composition.pulled_in))
