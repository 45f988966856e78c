"""The peers' way to install: `kubectl apply` again and again until it succeeds, then wait for the Deployments.

The loop is that of the Kubeflow manifests' README (v1.10): `while ! kustomize build example | kubectl apply
--server-side --force-conflicts -f -; do sleep 20; done`. Rendering is left out of it here, to its advantage.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commands import CommandFailedError, attempt
from benchmarks.embedded import Cluster

# Theirs, and one that hardly waits.
UPSTREAM_PAUSE_SECONDS = 20.0
SHORT_PAUSE_SECONDS = 1.0
DEADLINE_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class Looped:
    """What the loop took: seconds until it succeeded, seconds until all was Available, and its rounds."""

    applied: float
    available: float
    rounds: int


def install(cluster: Cluster, manifest: Path, *, pause: float) -> Looped:
    """Install `manifest` on `cluster`, which is up, with `pause` seconds between two rounds.

    Raises:
        CommandFailedError: it did not succeed within DEADLINE_SECONDS; carries what kubectl last said.
    """
    began = time.monotonic()
    rounds = 1
    while said := apply(cluster, manifest):
        if time.monotonic() - began > DEADLINE_SECONDS:
            raise CommandFailedError(f"the retry loop did not end in {DEADLINE_SECONDS:.0f} s: {said}")
        time.sleep(pause)
        rounds += 1
    applied = time.monotonic() - began
    everything = ("deployment", "--all", "--all-namespaces")
    cluster.kubectl("wait", "--for=condition=Available", *everything, f"--timeout={DEADLINE_SECONDS:.0f}s")
    return Looped(applied, time.monotonic() - began, rounds)


def apply(cluster: Cluster, manifest: Path) -> str:
    """Apply `manifest` once; return "" if all of it was taken, else what kubectl said last."""
    arguments = ("apply", "--server-side", "--force-conflicts", "-f", str(manifest))
    code, _, _, said = attempt(cluster.kubectl_command(*arguments))
    return "" if code == 0 else (said.strip() or f"exit code {code}")[-500:]
