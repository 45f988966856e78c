"""A node's root that pods have written: what the next `up` writes there leads nowhere else.

| a pod left, in place of | what must hold |
| --- | --- |
| a link to a file of the machine, for a file | the file is as it was; the node has one of its own |
| a link to a folder of the machine, for a folder | nothing is made in it, its mode is as it was |
| a link in the middle of a path | the same |
| a pipe or a device, for a file | nobody waits for its other end, nothing is written into it |
| a folder for a file, a file for a folder | the other one comes, the folder's content is kept |
| a hard link to a file of its own | the other name keeps its content |
| names with line breaks, folders 3000 deep | they are left alone |
"""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from modelyard.local.node import root as node_root
from modelyard.local.node.tree import NodeTree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A node's root after its first `up`."""
    folder = tmp_path / "node-1" / "root"
    node_root.prepare(folder, "node-1", {"etc/modelyard/kubelet.key": "secret"})
    return folder


def test_first_root_has_folders_files_and_modes(root: Path) -> None:
    assert (root / "etc/hostname").read_text() == "node-1\n"
    assert stat.S_IMODE((root / "tmp").stat().st_mode) == 0o1777
    assert stat.S_IMODE((root / "etc/modelyard/kubelet.key").stat().st_mode) == 0o600
    assert stat.S_IMODE((root / "etc/passwd").stat().st_mode) == 0o644
    assert (root / "var/run").readlink() == Path("/run")


def test_links_of_a_pod_lead_nowhere(root: Path, tmp_path: Path) -> None:
    machine = tmp_path / "machine"
    (machine / "etc").mkdir(parents=True)
    (machine / "etc").chmod(0o700)
    (machine / "passwd").write_text("the machine's")
    replace(root / "etc/passwd", machine / "passwd")
    replace(root / "tmp", machine / "etc")
    replace(root / "etc/modelyard", machine / "etc")
    replace(root / "var", machine / "etc")

    node_root.prepare(root, "node-1", {"etc/modelyard/kubelet.key": "secret"})

    assert (machine / "passwd").read_text() == "the machine's"
    assert list((machine / "etc").iterdir()) == []
    assert stat.S_IMODE((machine / "etc").stat().st_mode) == 0o700
    assert not (root / "etc/passwd").is_symlink()
    assert stat.S_IMODE((root / "tmp").lstat().st_mode) == 0o1777
    assert (root / "etc/modelyard/kubelet.key").read_text() == "secret"
    assert (root / "var/run").readlink() == Path("/run")


def test_pipes_and_devices_are_replaced_and_nobody_waits_for_them(root: Path) -> None:
    for name in ("passwd", "group"):
        (root / "etc" / name).unlink()
    os.mkfifo(root / "etc/passwd")
    os.mknod(root / "etc/group", stat.S_IFSOCK | 0o600)
    node_root.prepare(root, "node-1", {})
    assert (root / "etc/passwd").is_file()
    assert (root / "etc/group").is_file()


def test_folder_for_a_file_makes_way_and_is_kept(root: Path) -> None:
    (root / "etc/hosts").unlink()
    (root / "etc/hosts/of-a-pod").mkdir(parents=True)
    replace(root / "srv", None)
    (root / "srv").write_text("a file")
    node_root.prepare(root, "node-1", {})
    assert (root / "etc/hosts").is_file()
    assert (root / "srv").is_dir()
    assert len(list((root / "etc").glob(".hosts.*/of-a-pod"))) == 1


def test_other_name_of_a_file_keeps_its_content(root: Path) -> None:
    (root / "srv/mine").write_text("a pod's")
    (root / "etc/hosts").unlink()
    (root / "etc/hosts").hardlink_to(root / "srv/mine")
    node_root.prepare(root, "node-1", {})
    assert (root / "srv/mine").read_text() == "a pod's"
    assert "localhost" in (root / "etc/hosts").read_text()


def test_odd_names_and_deep_folders_are_left_alone(root: Path) -> None:
    (root / "etc/a\nname").write_text("x")
    handle = os.open(root / "srv", os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=handle)
        below = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)
    node_root.prepare(root, "node-1", {})
    assert (root / "etc/a\nname").read_text() == "x"
    subprocess.run(["rm", "-rf", root], check=True)  # pytest's own clean-up fails at such a depth


def test_path_that_leads_out_is_refused(root: Path) -> None:
    tree = NodeTree(root)
    with pytest.raises(ValueError, match="leads out"):
        tree.write("etc/../../x", "", 0o600)
    tree.close()


def replace(path: Path, target: Path | None) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name(f"{path.name}.before"))
    else:
        path.unlink()
    if target is not None:
        path.symlink_to(target)
