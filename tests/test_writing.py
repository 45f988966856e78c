"""Files that are written together: all, or none, whatever fails on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelyard.writing import write_all


def tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() if path.is_file() else "/" for path in folder.rglob("*")}


def test_files_and_folders_are_written_and_nothing_else_is_left(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o600)
    write_all({tmp_path / "a": "new", tmp_path / "b": "b"}, {tmp_path / "in/new": {"x/y": "1"}})
    assert tree(tmp_path) == {"a": "new", "b": "b", "in": "/", "in/new": "/", "in/new/x": "/", "in/new/x/y": "1"}
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "in/new").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("place", ["z", "nowhere/z"])
def test_where_one_cannot_be_written_all_are_as_they_were(tmp_path: Path, place: str) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "z").mkdir()  # it can be staged, and not be put into its place; `nowhere` not even that
    before = tree(tmp_path)
    with pytest.raises(OSError):
        write_all({tmp_path / "a": "new", tmp_path / "b": "b", tmp_path / place: "x"}, {tmp_path / "n/f": {"x": "1"}})
    assert tree(tmp_path) == before


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    write_all({tmp_path / "link": "new"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
