"""`modelyard install` on an embedded cluster whose supervisor is killed in the middle."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from conftest import Own
from modelyard.apply import this_command
from modelyard.catalog import load
from modelyard.catalog.choice import Choice
from modelyard.errors import LocalClusterError
from modelyard.events import Event, StepFailed, StepProgress
from modelyard.local import platform
from modelyard.local.runtime import ClusterSpec
from modelyard.local.runtime.layout import layout
from modelyard.local.runtime.record import running_supervisor
from modelyard.paths import cache_dir

LABELS = {"app": "never"}
NEVER_READY: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "never", "namespace": "default"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {"containers": [{"name": "main", "image": "test.modelyard.dev/none:1"}]},
        },
    },
}


@pytest.mark.long
def test_the_install_ends_at_once_with_one_message(own: Own, tmp_path: Path) -> None:
    files = {
        "upstream.lock": "",
        "manifests/cluster/never/component.yaml": (
            "name: never\narea: cluster\nsummary: x\nlicence: MIT\nnamespace: default\n"
        ),
        "overlays/local/target.yaml": "name: local\nsummary: x\nprofiles: {core: [never]}\n",
        "overlays/local/never/kustomization.yaml": "resources: []\n",
    }
    for file, content in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(content)
    name = own.name()
    request = platform.Request(
        spec=ClusterSpec(name=name),
        target="local",
        components=("never",),
        choice=Choice(),
        before=None,
        holder=this_command("modelyard install"),
        cache=cache_dir(),
        timeout=1200,
        smoke=False,
    )
    seen: list[Event] = []

    def kill_when_it_waits(event: Event) -> None:
        seen.append(event)
        if isinstance(event, StepProgress) and event.key == "install:never" and event.detail.startswith("Deployment"):
            process = running_supervisor(layout(name))
            if process is not None:
                os.kill(process.pid, signal.SIGKILL)

    with pytest.raises(LocalClusterError, match="ended while the platform was being installed on it") as caught:
        platform.install(
            load(tmp_path),
            request,
            render=lambda names, values: {each: [NEVER_READY] for each in names},
            emit=kill_when_it_waits,
            cancelled=threading.Event(),
        )
    assert f"modelyard install --name {name} brings it back" in caught.value.remedy
    assert not [event for event in seen if isinstance(event, StepFailed) and event.key == "install:never"]
