"""Links of an upstream's chart: followed within the locked tree, whatever folder the command is started in."""

from __future__ import annotations

from pathlib import Path

import pytest
from render_files import write

from modelyard.render.helm import _stage_chart

LINKS = {
    "inside.yaml": "../../shared/b.yaml",
    "out.yaml": "../../../secret.yaml",
    "through.yaml": "../../away/secret.yaml",
    "nowhere.yaml": "gone.yaml",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    write(tree, {"chart/Chart.yaml": "name: x\n", "chart/templates/a.yaml": "a: 1\n", "shared/b.yaml": "b: 2\n"})
    (tmp_path / "secret.yaml").write_text("secret: 3\n")
    (tree / "away").symlink_to("..")
    for name, target in LINKS.items():
        (tree / "chart/templates" / name).symlink_to(target)
    return tree


@pytest.mark.parametrize("folder", ["tree", "tree/chart/templates", "."])
def test_a_chart_has_what_its_links_name_in_the_tree_and_nothing_else(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(tmp_path / folder)
    chart = _stage_chart(tree / "chart", tree, tmp_path / "scratch", "v1.0.0")
    found = {path.name: path.read_text() for path in (chart / "templates").iterdir()}
    assert found == {"a.yaml": "a: 1\n", "inside.yaml": "b: 2\n"}
