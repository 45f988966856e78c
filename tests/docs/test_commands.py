"""Every command in the docs that can be run here is run, page by page, and ends with exit code 0.

A block that needs an installed platform has `<!-- needs: platform -->` on the line before it, and is run with the
marker `platform`, on the cluster $MODELYARD_NAME; `<!-- needs: full -->`: on one with the profile `full`, which
`make test-full` has.
Lines below a command are what it prints. One that no test can run says why: `<!-- not run: ... -->`.
A block after `<!-- file: PATH -->` is a file that the reader writes.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from docs_pages import ROOT, Block, blocks, pages
from docs_runner import copy_clone, not_printed, run

from modelyard.local import down
from modelyard.local.state.layout import names


def _by_page(needs: str) -> list[list[Block]]:
    """Return, for each page that has commands with these needs, those commands and the files that they need."""
    found = [[block for block in blocks(page) if block.file or _fits(block, needs)] for page in pages()]
    return [chosen for chosen in found if any(block.commands for block in chosen)]


def _fits(block: Block, needs: str) -> bool:
    return block.needs == needs and not block.not_run


def _name(found: list[Block]) -> str:
    return found[0].page


@pytest.mark.parametrize("found", _by_page(""), ids=_name)
def test_commands_that_need_only_a_clone(found: list[Block], tmp_path: Path) -> None:
    run(found, clone=copy_clone(tmp_path), settings={"KUBECONFIG": str(tmp_path / "kubeconfig")})


def test_what_a_page_shows_must_be_printed() -> None:
    shown = ("NAME AGE", "rayjob-text-87ab0  3s", '{"predictions":[[0.5220241546]]}')
    assert not not_printed(shown, 'first\nNAME   AGE\nrayjob-text-12cd9   5m12s\n{"predictions":[[0.52153]]}\n')
    assert not_printed(shown, "NAME AGE\nother-text-12cd9 3s\n") == list(shown[1:])
    assert not_printed(("RESULT 6 lines kept",), "RESULT 5 lines kept") == ["RESULT 6 lines kept"]
    assert not_printed(("b", "a"), "a\nb\n") == ["a"], "in the page's order"


@pytest.mark.platform
@pytest.mark.parametrize(
    "found",
    [*_by_page("platform"), *(pytest.param(found, marks=pytest.mark.long) for found in _by_page("full"))],
    ids=_name,
)
def test_commands_on_an_installed_platform(found: list[Block], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MODELYARD_STATE_DIR", raising=False)  # the platform is no cluster of this test run
    cluster = os.environ.get("MODELYARD_NAME", "modelyard")
    kubeconfig = tmp_path / "kubeconfig"
    _use_context(cluster, kubeconfig)
    before = set(names())
    clashing = before & _named_clusters(found)
    assert not clashing, f"the page would delete your clusters {sorted(clashing)}"
    try:
        run(found, clone=copy_clone(tmp_path), settings={"MODELYARD_NAME": cluster, "KUBECONFIG": str(kubeconfig)})
    finally:
        for name in sorted(_named_clusters(found) & set(names())):
            down(name, delete=True)


def _named_clusters(found: list[Block]) -> set[str]:
    """Return the names of the clusters that a page makes."""
    commands = [command for block in found for command in block.commands]
    return {name for command in commands for name in re.findall(r"local up --name (\S+)", command)}


def _use_context(cluster: str, kubeconfig: Path) -> None:
    """Make the cluster's context the current one of a kubeconfig that is only this test's."""
    command = [ROOT / ".venv/bin/modelyard", "local", "kubeconfig", "--name", cluster, "--kubeconfig", kubeconfig]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"name an installed platform by MODELYARD_NAME: {done.stderr}"
