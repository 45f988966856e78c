"""`modelyard install` on an embedded cluster whose supervisor is killed in the middle."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from conftest import Own
from modelyard.errors import LocalClusterError
from modelyard.events import Event, StepFailed, StepProgress
from modelyard.local.state.layout import layout
from modelyard.local.state.record import running_supervisor
from modelyard.platform.asked import Asked
from modelyard.platform.clusters.protocol import EmbeddedOptions
from modelyard.platform.install import Request, install
from modelyard.platform.where import Where

NEVER_READY = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: never, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: never}}
  template:
    metadata: {labels: {app: never}}
    spec: {containers: [{name: main, image: "test.modelyard.dev/none:1"}]}
"""
FILES = {
    "upstream.lock": "",
    "manifests/cluster/never/component.yaml": (
        "name: never\narea: cluster\nsummary: x\nlicence: MIT\nnamespace: default\n"
    ),
    "manifests/cluster/never/kustomization.yaml": "resources: [deployment.yaml]\n",
    "manifests/cluster/never/deployment.yaml": NEVER_READY,
    "overlays/local/target.yaml": "name: local\nsummary: x\nprofiles: {core: [never]}\n",
}


@pytest.mark.long
def test_the_install_ends_at_once_with_one_message(own: Own, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file, content in FILES.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(content)
    monkeypatch.setenv("MODELYARD_ROOT", str(tmp_path))
    name = own.name()
    asked = Asked(target=None, overlay=None, profile=None, added=(), left_out=(), components=())
    options = EmbeddedOptions(name=name, smoke=False)
    seen: list[Event] = []

    def kill_when_it_waits(event: Event) -> None:
        seen.append(event)
        if isinstance(event, StepProgress) and event.key == "install:never" and event.detail.startswith("Deployment"):
            process = running_supervisor(layout(name))
            if process is not None:
                os.kill(process.pid, signal.SIGKILL)

    request = Request(asked=asked, where=Where(), embedded=options, timeout=1200)
    with pytest.raises(LocalClusterError, match="ended while the platform was being installed on it") as caught:
        install(request, kill_when_it_waits)
    assert f"modelyard install --name {name} brings it back" in caught.value.remedy
    assert not [event for event in seen if isinstance(event, StepFailed) and event.key == "install:never"]
