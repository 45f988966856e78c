"""A full disk and a TMPDIR that cannot be used: one sentence, an exit code; the same command goes on later."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from modelyard.paths import cache_dir

MODELYARD = [sys.executable, "-m", "modelyard"]


@pytest.mark.parametrize("arguments", [("install", "--name", "never-made"), ("local", "up", "--name", "never-made")])
def test_a_tmpdir_that_cannot_be_used_is_said_before_anything_is_done(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    for folder in (tmp_path / "missing", Path("/proc/self")):  # not there; root may not write there either
        done = subprocess.run(
            [*MODELYARD, *arguments],
            env=os.environ | {"TMPDIR": str(folder), "MODELYARD_STATE_DIR": str(tmp_path / "state")},
            text=True,
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 9, done.stderr
        assert f"error: TMPDIR {folder}: cannot be written: No such file or directory" in done.stderr
        assert "export TMPDIR=" in done.stderr
    assert not (tmp_path / "state").exists()


def test_a_full_disk_in_the_middle_is_said_and_the_same_command_goes_on_later(tmp_path: Path) -> None:
    """A small file system that is mounted where no one else sees it; full of something else, then not."""
    cache, filler = tmp_path / "cache", tmp_path / "cache/filler"
    cache.mkdir()
    tools = cache_dir() / "store"
    program = f"""
import os, pathlib, subprocess, sys
from modelyard.local.host import linux
linux.unshare(linux.CLONE_NEWNS)
linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
linux.mount("tmpfs", {str(cache)!r}, "tmpfs", data="size=4m")
(pathlib.Path({str(cache)!r}) / "store").symlink_to({str(tools)!r})
(pathlib.Path({str(cache)!r}) / "go").symlink_to({str(cache_dir() / "go")!r})
filler = pathlib.Path({str(filler)!r})
try:
    with filler.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
except OSError:
    pass
render = [sys.executable, "-m", "modelyard", "render", "--target", "kind", "--component", "tenancy"]
render += ["--cache-dir", {str(cache)!r}]
first = subprocess.run(render, capture_output=True, text=True)
print(first.returncode, first.stderr)
filler.unlink()
second = subprocess.run(render, capture_output=True, text=True)
print(second.returncode, len(second.stdout) > 1000, second.stderr)
third = subprocess.run(render, capture_output=True, text=True)  # from the cache
print(third.returncode, third.stdout == second.stdout)
"""
    done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, check=False)
    assert done.stdout.startswith(f"9 error: disk of {cache}/render: is full: No space left on device"), done
    assert "\n0 True" in done.stdout
    assert "\n0 True\n" in done.stdout[-10:]
