"""Layers of files: the same bytes for the same files, and only the files that were asked for."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

from modelyard.local.build.python_layer import LayerWriter
from modelyard.local.build.python_packages import drop, take_scripts


def tree(folder: Path) -> Path:
    (folder / "pkg/tests").mkdir(parents=True)
    (folder / "pkg/b.py").write_text("b = 1\n")
    (folder / "pkg/a.so").write_bytes(b"\x7fELF")
    (folder / "pkg/a.so").chmod(0o755)
    (folder / "pkg/tests/test_b.py").write_text("")
    (folder / "pkg/link.py").symlink_to("b.py")
    return folder


def write(source: Path, out: Path) -> Path:
    with LayerWriter(out, present={"usr"}) as layer:
        layer.tree(source, "usr/site", ["*/tests/*"])
        layer.folder("home/u", uid=1000, gid=100)
    return out


def test_files_are_in_it_by_name_with_owner_root_and_no_time(tmp_path: Path) -> None:
    out = write(tree(tmp_path / "in"), tmp_path / "layer.tar")
    with tarfile.open(out) as layer:
        entries = {entry.name: entry for entry in layer}
    assert list(entries) == [
        "usr/site", "usr/site/pkg", "usr/site/pkg/a.so", "usr/site/pkg/b.py", "usr/site/pkg/link.py", "home", "home/u",
    ]  # fmt: skip
    assert entries["usr/site/pkg/a.so"].mode == 0o755
    assert entries["usr/site/pkg/b.py"].mode == 0o644
    assert entries["usr/site/pkg/link.py"].linkname == "b.py"
    assert {(entry.uid, entry.mtime) for name, entry in entries.items() if name != "home/u"} == {(0, 0)}
    assert (entries["home/u"].uid, entries["home/u"].gid) == (1000, 100)


def test_the_same_files_give_the_same_bytes_whatever_their_times(tmp_path: Path) -> None:
    first = write(tree(tmp_path / "one"), tmp_path / "one.tar")
    other = tree(tmp_path / "two")
    os.utime(other / "pkg/b.py", (1, 1))
    assert write(other, tmp_path / "two.tar").read_bytes() == first.read_bytes()


def test_dropping_says_what_went(tmp_path: Path) -> None:
    site = tree(tmp_path / "in")
    assert drop(site, ["*/tests/*", "*.so"]) in (["a.so", "test_b.py"], ["test_b.py", "a.so"])
    assert not (site / "pkg/a.so").exists()
    assert (site / "pkg/b.py").exists()


def test_commands_run_the_images_python_not_this_machines(tmp_path: Path) -> None:
    info = tmp_path / "tool-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tool\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[console_scripts]\ntool = tool.cli:app.run\n")
    made = tmp_path / "bin"
    made.mkdir()
    (made / "tool").write_text("#!/this/machine/python\nwhatever\n")
    (made / "helper").write_text("#!/this/machine/python3.11\nprint(1)\n")
    (made / "binary").write_bytes(b"\x7fELF\n\n")
    found = take_scripts(tmp_path)
    assert found["tool"] == b"#!/usr/bin/python3\nimport sys\nfrom tool.cli import app\nsys.exit(app.run())\n"
    assert found["helper"] == b"#!/usr/bin/python3\nprint(1)\n"
    assert found["binary"] == b"\x7fELF\n\n"
    assert not made.exists()
