"""Runs a page's commands as a reader would: in their order, from a clone, each until it ends well."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from docs_pages import ROOT, Block

SECONDS_EACH = 600
# What a fresh clone would not have.
_OURS = (".*", "__pycache__", "build", "dist", "bench-results")


def copy_clone(into: Path) -> Path:
    """Copy the working tree: a page may write into its clone, and must not write into this one."""
    clone = into / "modelyard"
    shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns(*_OURS))
    return clone


def run(blocks: Iterable[Block], *, clone: Path, settings: Mapping[str, str]) -> None:
    """Run the commands of `blocks` in the folder `clone`, with `settings` in their environment.

    Raises:
        AssertionError: a command failed, did not end, or did not print what the page shows; it carries what was said.
    """
    path = f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "MODELYARD_ROOT": str(clone)} | settings
    for block in blocks:
        if block.file:
            _write(clone / block.file, block.content)
        for command, shown in zip(block.commands, block.shown, strict=True):
            where = f"{block.page}:{block.line}"
            print(f"{where}: $ {command}")
            missing = not_printed(shown, _run(command, where, clone, environment))
            assert not missing, f"{where}: `{command}` does not print what the page shows: {missing}"


def not_printed(shown: Sequence[str], printed: str) -> list[str]:
    """Return the lines of a page that a command did not print, in their order, among others or not.

    What differs from run to run counts as the same: spans of time, generated suffixes of names, and numbers with many
    decimals, which a model answers with (conformance/serving holds those to the exporter's).
    """
    lines = iter(_constant(line) for line in printed.splitlines())
    return [line for line in shown if _constant(line) not in lines]


def _constant(line: str) -> str:
    line = re.sub(r"\b(\d+(\.\d+)?(ms|[smhd]))+\b", "TIME", " ".join(line.split()))
    line = re.sub(r"-(?=[a-z]*\d)[0-9a-z]{5,10}\b", "-SUFFIX", line)
    return re.sub(r"-?\b\d+\.\d{5,}\b", "NUMBER", line)


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def _run(command: str, where: str, clone: Path, environment: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=clone,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_EACH,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"{where}: `{command}` did not end in {SECONDS_EACH} s: {error.output}") from error
    print(done.stdout)
    assert done.returncode == 0, f"{where}: `{command}` ended with {done.returncode}:\n{done.stdout}"
    return done.stdout
