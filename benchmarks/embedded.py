"""An embedded cluster of the benchmarks' own: brought up, asked for a pod, deleted."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.commands import MODELYARD, attempt, run
from benchmarks.tools import tool
from modelyard.local.build.images import PAUSE
from modelyard.local.state.layout import layout


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster by name, up or not.

    Args:
        name: its name.
        scratch: a folder for what commands write, among it the kubeconfig that they merge into.
    """

    name: str
    scratch: Path

    def modelyard(self, *arguments: str) -> float:
        """Run modelyard with `arguments` and this cluster's name; return the seconds."""
        return run([MODELYARD, *arguments, "--name", self.name], settings=self.settings)[0]

    def kubectl(self, *arguments: str, stdin: bytes | None = None) -> tuple[float, bytes]:
        """Run kubectl with `arguments` on this cluster; return the seconds and its stdout."""
        return run(self.kubectl_command(*arguments), stdin=stdin)

    def kubectl_command(self, *arguments: str) -> list[str | Path]:
        """Return the command line that `kubectl` runs."""
        return [tool("kubectl"), "--kubeconfig", layout(self.name).kubeconfig, *arguments]

    def start_pod(self, name: str) -> float:
        """Start a pod that needs no image but the one that is there; return the seconds until it runs."""
        container = {"name": "main", "image": PAUSE.name, "imagePullPolicy": "IfNotPresent"}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}
        created, _ = self.kubectl("create", "-f", "-", stdin=json.dumps(pod).encode())
        waited, _ = self.kubectl("wait", "--for=jsonpath={.status.phase}=Running", f"pod/{name}", "--timeout=60s")
        return created + waited

    @property
    def settings(self) -> dict[str, str]:
        """Return what commands have in their environment: they must not touch the user's own kubeconfig."""
        return {"KUBECONFIG": str(self.scratch / "kubeconfig")}


@contextmanager
def fresh_cluster(purpose: str) -> Iterator[Cluster]:
    """Give a cluster of a name that nobody uses, not up yet; delete it afterwards."""
    with TemporaryDirectory(prefix="modelyard-bench-") as scratch:
        cluster = Cluster(f"bench-{purpose}-{os.getpid()}", Path(scratch))
        try:
            yield cluster
        finally:
            attempt([MODELYARD, "local", "down", "--delete", "--name", cluster.name], settings=cluster.settings)
