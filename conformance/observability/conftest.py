"""The area needs Prometheus: where it is not installed, nothing here counts as tested."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.observability.prometheus import STATEFUL_SET, Prometheus
from conformance.observability.scene import Scene
from conformance.support.removal import Removal
from conformance.support.workspace import Workspace, open_workspace
from modelyard.cluster import Session


@pytest.fixture(scope="session")
def prometheus(session: Session) -> Prometheus:
    """The platform's Prometheus."""
    if session.get(STATEFUL_SET) is None:
        pytest.skip("component prometheus is not installed (modelyard install --with prometheus)")
    return Prometheus(session)


@pytest.fixture(scope="module")
def workspace(session: Session, removal: Removal, prometheus: Prometheus) -> Iterator[Workspace]:
    """One namespace for a file."""
    workspace = open_workspace(session, area="observability")
    yield workspace
    removal.remove(workspace.ref)


@pytest.fixture(scope="module")
def scene(workspace: Workspace, removal: Removal) -> Iterator[Scene]:
    """Jobs in a queue, a model that is asked, and a simulated GPU."""
    scene = Scene(workspace)
    scene.open()
    yield scene
    scene.close(removal)
