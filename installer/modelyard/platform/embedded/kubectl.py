"""kubectl for people, where the machine has none."""

from __future__ import annotations

import filecmp
import shutil
import sys
from pathlib import Path

from modelyard.local.build.binaries import CONTROL_PLANE
from modelyard.local.build.queue import BuildQueue


def offer_kubectl(queue: BuildQueue) -> None:
    """Put the built kubectl into modelyard's virtual environment where the machine has none on PATH."""
    if shutil.which("kubectl") is not None or sys.prefix == sys.base_prefix:
        return
    [kubectl] = [binary for binary in CONTROL_PLANE if binary.name == "kubectl"]
    built, target = queue.binary(kubectl).result(), Path(sys.prefix) / "bin" / "kubectl"
    if target.is_file() and filecmp.cmp(built, target, shallow=False):
        return
    fresh = target.with_suffix(".new")  # the old one may be running
    shutil.copyfile(built, fresh)
    fresh.chmod(0o755)
    fresh.replace(target)
