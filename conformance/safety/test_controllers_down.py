"""A controller that is down holds up what is its own, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.safety.belongings import held_up
from conformance.safety.controllers import Controller, controllers, down
from conformance.support.images import PAUSE
from conformance.support.queues import QUEUE_LABEL
from conformance.support.removal import Removal
from conformance.support.workspace import Workspace, open_workspace
from modelyard.cluster import Session
from modelyard.errors import ModelyardError
from modelyard.objects import Object

pytestmark = pytest.mark.alone
KUEUE = "kueue"
SERVICE = "kueue-webhook-service.kueue-system.svc"


@pytest.fixture(scope="module")
def found(session: Session) -> list[Controller]:
    """The controllers of what is installed."""
    found = controllers(session)
    if not found:
        pytest.skip("another tool has installed the platform: which controllers are its own is not known")
    return found


@pytest.fixture
def somebodys(session: Session, removal: Removal) -> Iterator[Workspace]:
    """A namespace that has nothing to do with the platform."""
    workspace = open_workspace(session, area="safety", managed=False)
    yield workspace
    removal.remove(workspace.ref)


def test_others_go_on_whatever_controller_is_down(
    session: Session, found: list[Controller], somebodys: Workspace
) -> None:
    """Each controller in turn has no replica; meanwhile objects of all common kinds are made, changed and deleted.

    Seen to fail with the namespaceSelector taken out of Kueue's webhook mdeployment.kb.io (Deployments are refused).
    """
    faults = []
    for controller in found:
        with down(session, controller):
            faults += [f"without {controller}: {fault}" for fault in held_up(session, somebodys.name)]
    assert not faults, "\n".join(faults)


def test_who_opted_in_is_told_what_is_down(session: Session, found: list[Controller], workspace: Workspace) -> None:
    """A job that could not be put into its queue is refused, and the message says who does not answer.

    Seen to fail with the label taken off the namespace (nothing is refused).
    """
    [kueue] = [each for each in found if each.component == KUEUE]
    with down(session, kueue), pytest.raises(ModelyardError) as refused:
        workspace.create(_job())
    assert SERVICE in str(refused.value)


def _job() -> Object:
    container = {"name": "main", "image": PAUSE, "imagePullPolicy": "IfNotPresent"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "queued", "labels": {QUEUE_LABEL: "default"}},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }
