"""`kustomize build`, without a network."""

from __future__ import annotations

import os
from pathlib import Path

from modelyard.errors import RenderError
from modelyard.programs import run

TIMEOUT_SECONDS = 300
# A proxy where nobody listens (port 9, discard): kustomize fetches by git, and files by HTTP itself.
_DEAD_END = "http://127.0.0.1:9"
_NO_HTTP = {
    name: value
    for upper, value in (("HTTP_PROXY", _DEAD_END), ("HTTPS_PROXY", _DEAD_END), ("NO_PROXY", ""))
    for name in (upper, upper.lower())
}

# Go's collector took a quarter of a cold render's time: a build is short, and its garbage goes with the process.
# With 400 it were a third, and a render of all components took 0.6 GB.
_COLLECTOR = {"GOGC": "200"}


def build(folder: Path, *, kustomize: Path, stage: Path, shown: str) -> bytes:
    """Return what `kustomize build` makes of `folder`.

    Args:
        folder: a staged overlay.
        kustomize: the kustomize command.
        stage: the staging folder; its path is taken out of messages.
        shown: the overlay's name for people ("overlays/local/kueue").

    Raises:
        RenderError: kustomize cannot run, or refuses.
    """
    # Everything is local by now; a reference that slipped through must not reach the network.
    environment = _COLLECTOR | os.environ | {"GIT_ALLOW_PROTOCOL": "none"} | _NO_HTTP
    # Not by path: one with `@` would pass for a git URL.
    done = run([kustomize, "build", "."], cwd=folder, env=environment, seconds=TIMEOUT_SECONDS)
    if done.problem:
        message = done.stderr.replace(f"{stage}/", "").strip()
        raise RenderError(shown, f"kustomize build: {message or done.problem}", f"edit {shown}")
    return done.stdout
