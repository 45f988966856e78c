"""`kustomize build` as a subprocess."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from modelyard.errors import RenderError

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
    try:
        done = subprocess.run(
            [str(kustomize), "build", "."],  # not by path: one with `@` would pass for a git URL
            cwd=folder,
            env=environment,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RenderError(shown, f"kustomize build: {error}") from error
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").replace(f"{stage}/", "").strip()
        raise RenderError(shown, f"kustomize build: {message or 'no message'}", f"edit {shown}")
    return done.stdout
