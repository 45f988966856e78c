"""What the embedded cluster's tests share."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

IMAGE = "test.modelyard.dev/tools:1"


@dataclass(frozen=True)
class Kubectl:
    """kubectl against one cluster."""

    program: Path
    kubeconfig: Path

    def __call__(self, *argv: str, stdin: object = None) -> str:
        document = json.dumps(stdin) if stdin is not None else None
        command = [str(self.program), f"--kubeconfig={self.kubeconfig}", *argv]
        done = subprocess.run(command, input=document, text=True, capture_output=True, check=False, timeout=180)
        assert done.returncode == 0, f"kubectl {' '.join(argv)}: {done.stderr}"
        return done.stdout

    def errors(self, *argv: str) -> str:
        """Return what a command that must fail says."""
        command = [str(self.program), f"--kubeconfig={self.kubeconfig}", *argv]
        done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=180)
        assert done.returncode != 0, f"kubectl {' '.join(argv)}: {done.stdout}"
        return done.stderr

    def json(self, *argv: str) -> Any:
        return json.loads(self(*argv, "-o", "json"))

    def apply(self, *objects: dict[str, Any]) -> None:
        for each in objects:
            self("apply", "-f", "-", stdin=each)

    def wait_ready(self, pod: str) -> None:
        self("wait", "--for=condition=Ready", f"pod/{pod}", "--timeout=150s")


def pod(name: str, **spec: Any) -> dict[str, Any]:
    """Return a pod that sleeps, with `spec` on top."""
    container = {"name": "main", "image": IMAGE, "command": ["/usr/bin/sleep", "3600"]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"terminationGracePeriodSeconds": 0, "containers": [container], **spec},
    }


def eventually(
    probe: Callable[[], object], what: str, *, seconds: float = 60.0, seen: Callable[[], object] | None = None
) -> None:
    """Wait until `probe` returns something true, or fail with what it (or `seen`) last returned."""
    deadline = time.monotonic() + seconds
    while not (last := probe()):
        assert time.monotonic() < deadline, f"{what}: not after {seconds:g} s, last {seen() if seen else last!r}"
        time.sleep(0.1)
