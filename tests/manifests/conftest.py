"""The catalogue of this clone, and what its targets render to.

A render is kept by the hash of its inputs, so that a target is really rendered once after each change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from modelyard.catalog import Catalog, load
from modelyard.cli.workspace import Workspace
from modelyard.events import discard
from modelyard.objects import Object
from modelyard.paths import data_root

Rendered = Mapping[str, list[Object]]


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load(data_root())


@pytest.fixture(scope="session")
def workspace() -> Workspace:
    return Workspace(None, discard)


@pytest.fixture(scope="session")
def render(catalog: Catalog, workspace: Workspace) -> Callable[[str], Rendered]:
    """Render all of a target, once a process."""
    done: dict[str, Rendered] = {}

    def rendered(target: str) -> Rendered:
        if target not in done:
            done[target] = workspace.renderer().objects(catalog, target, catalog.everything(target))
        return done[target]

    return rendered
