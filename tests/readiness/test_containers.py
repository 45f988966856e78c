"""What keeps a pod from being ready, in words."""

from __future__ import annotations

from typing import Any

import pytest

from modelyard.readiness.containers import last_line, needs_log, pod_trouble, with_log


def pod(state: dict[str, Any], *, ready: bool = False, init: bool = False) -> dict[str, Any]:
    key = "initContainerStatuses" if init else "containerStatuses"
    return {"status": {key: [{"name": "manager", "ready": ready, "state": state}]}}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            pod({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s restarting pod x_y(uid)"}}),
            "container manager: CrashLoopBackOff",
        ),
        (
            pod({"waiting": {"reason": "ErrImagePull", "message": "no such image"}}),
            "container manager: ErrImagePull: no such image",
        ),
        (pod({"terminated": {"exitCode": 1, "reason": "Error"}}), "container manager: Error (exit code 1)"),
        (pod({"terminated": {"exitCode": 0, "reason": "Completed"}}, init=True), ""),
        (pod({"running": {}}), "container manager: running, not ready"),
        (pod({"running": {}}, ready=True), ""),
        (
            {"status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}]}},
            "not scheduled: 0/1 nodes",
        ),
        ({}, ""),
    ],
)
def test_trouble_names_container_and_state(found: dict[str, Any], said: str) -> None:
    assert pod_trouble(found) == said


def test_the_last_log_line_that_says_something_is_added() -> None:
    log = "starting\npanic: no such file\n\n  \n"
    assert with_log("container manager: CrashLoopBackOff", last_line(log)) == (
        "container manager: CrashLoopBackOff: panic: no such file"
    )


def test_a_long_log_line_is_cut() -> None:
    assert len(last_line("x" * 1000, limit=50)) == 50


def test_a_container_that_never_ran_has_no_log() -> None:
    assert needs_log("CrashLoopBackOff")
    assert not needs_log("ImagePullBackOff: no such image")
