"""An AppWrapper starts again what a fault has ended."""

from __future__ import annotations

import pytest

from conformance.support.history import pod_history
from conformance.support.jobs import job
from conformance.support.kinds import APP_WRAPPER
from conformance.support.pods import decide, scripted
from conformance.support.queues import Queues
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.objects import number, text

pytestmark = pytest.mark.proves("appwrapper")

_ANNOTATION = "workload.codeflare.dev.appwrapper/"
# Its defaults leave a job half a minute to mend itself, and the cluster another half before it tries again.
_PATIENCE = {f"{_ANNOTATION}failureGracePeriodDuration": "1s", f"{_ANNOTATION}retryPausePeriodDuration": "2s"}


def test_an_appwrapper_resets_a_failed_job_and_succeeds(workspace: Workspace, queues: Queues) -> None:
    """The wrapped Job allows no failed pod; its first pod fails, the one after the fault is mended succeeds.

    Seen to fail with `retryLimit: 0` in appwrapper-operator-config.
    """
    queue = queues.queue(cpu="100m")
    wrapped = job("wrapped", {}, runs=scripted("exit 1"))
    with pod_history(workspace) as history:
        workspace.create(
            {
                "apiVersion": "workload.codeflare.dev/v1beta2",
                "kind": "AppWrapper",
                "metadata": {"name": "wrapper", "labels": queue.labels, "annotations": _PATIENCE},
                "spec": {"components": [{"template": wrapped}]},
            }
        )
        _wait(workspace, "Resetting")
        decide(workspace, "true")
        _wait(workspace, "Succeeded")
        assert len(history.named("wrapped-")) >= 2
    assert number(workspace.get(APP_WRAPPER, "wrapper"), "status", "resettingCount") >= 1


def _wait(workspace: Workspace, phase: str) -> None:
    wait_for(
        f"the AppWrapper is {phase}",
        lambda: workspace.get(APP_WRAPPER, "wrapper"),
        lambda found: text(found, "status", "phase") == phase,
        show=lambda found: text(found, "status", "phase"),
    )
