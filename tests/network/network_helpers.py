"""A cluster with two nodes of two shaped NICs each, and Multus and whereabouts on it, by the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

NAME = "nics"
MBIT = "300"  # low enough that two CPUs carry four of them
INSTALL_SECONDS = 1500.0  # on an empty cache it compiles


@dataclass(frozen=True)
class Cluster:
    """The command line, for one cluster."""

    name: str = NAME
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    def __call__(self, *words: str, seconds: float = 300.0, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `modelyard`; the cluster's name is added."""
        command = [sys.executable, "-m", "modelyard", *words, "--name", self.name]
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=seconds
        )
        if check:
            assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
        return done

    def inside(self, *words: str, node: str = "") -> str:
        """Run a command where the switches are, or in a node's namespaces; return what it said."""
        where = ["--node", node] if node else []
        done = subprocess.run(
            [sys.executable, "-m", "modelyard", "local", "exec", "--name", self.name, *where, "--", *words],
            env=self.environment, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


def torch_image() -> Path:
    """Return the archive of the image that the tests' pods run; built if the cache has none."""
    from modelyard.events import discard
    from modelyard.local.build.queue import BuildQueue
    from modelyard.local.build.toolchain import find_go
    from modelyard.paths import cache_dir

    queue = BuildQueue(find_go(cache_dir()), cache_dir(), discard)
    try:
        return queue.python_image("torch").result()
    finally:
        queue.close()
