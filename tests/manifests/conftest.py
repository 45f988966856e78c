"""The catalogue of this clone, and what its targets render to.

A render is kept by the hash of its inputs, so that a target is really rendered once after each change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from remembering import RememberingCache

from modelyard.catalog import Catalog, load
from modelyard.events import discard
from modelyard.objects import Object
from modelyard.paths import data_root
from modelyard.platform.workspace import Workspace
from modelyard.sources.store import UnavailableError

Rendered = Mapping[str, list[Object]]


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load(data_root())


@pytest.fixture(scope="session")
def workspace() -> Workspace:
    return _remembering(Workspace(None, discard))


def _remembering(workspace: Workspace) -> Workspace:
    workspace.rendered = RememberingCache(workspace.rendered.folder)
    return workspace


@pytest.fixture(scope="session")
def render(catalog: Catalog, workspace: Workspace) -> Callable[[str], Rendered]:
    """Render all of a target, once a process."""
    done: dict[str, Rendered] = {}

    def rendered(target: str) -> Rendered:
        if target not in done:
            done[target] = workspace.renderer().objects(catalog, target, catalog.everything(target))
        return done[target]

    return rendered


@pytest.fixture(scope="session")
def offered(catalog: Catalog, workspace: Workspace) -> Callable[[str, str], list[Object]]:
    """Render a component that a target offers, once a process; skip where its upstream's files cannot be had.

    Such files may come from the git host alone; it is asked once for each upstream, not once for each test.
    """
    done: dict[tuple[str, str], list[Object]] = {}
    asked: set[str | None] = set()
    reasons: dict[tuple[str, str], str] = {}
    offline = _remembering(Workspace(None, discard, offline=True))

    def rendered(target: str, name: str) -> list[Object]:
        here, upstream = (target, name), catalog.component(name).upstream
        if here not in done and here not in reasons:
            try:
                found = (offline if upstream in asked else workspace).renderer().objects(catalog, target, [name])
                done[here] = found[name]
            except UnavailableError as error:
                asked.add(upstream)
                reasons[here] = f"{name} on {target} is not looked at: {error}"
        if here in reasons:
            pytest.skip(reasons[here])
        return done[here]

    return rendered
