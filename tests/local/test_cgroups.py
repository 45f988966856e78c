"""The cgroup trees of clusters that live, that ended, and that end while one looks.

The hierarchies are folders with the kernel's file names: what the tests hold is which of them is read and written.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from modelyard.errors import LocalClusterError
from modelyard.local.host import cgroups
from modelyard.local.host.cgroups import BASE, Cgroups, find_cgroups
from modelyard.local.host.files import locked


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cgroups:
    """A machine with one hierarchy of version 1."""
    monkeypatch.setattr(cgroups, "LOCK", tmp_path / "lock")
    return Cgroups(1, (group(tmp_path / "memory"),))


def group(path: Path, *processes: int) -> Path:
    path.mkdir(parents=True)
    (path / "cgroup.procs").write_text("".join(f"{process}\n" for process in processes))
    return path


def test_cluster_whose_pod_ends_during_the_sweep_stays(machine: Cgroups, monkeypatch: pytest.MonkeyPatch) -> None:
    living = machine.roots[0] / BASE / "dev-1"
    group(living)
    group(living / "system", 4711)
    monkeypatch.setattr(cgroups.os, "walk", walk_with_a_group_that_vanishes)
    assert cgroups.sweep(machine) == []
    assert (living / "system").is_dir()


def test_group_that_vanishes_counts_as_empty(machine: Cgroups, monkeypatch: pytest.MonkeyPatch) -> None:
    ending = machine.roots[0] / BASE / "dev-1"
    group(ending)
    monkeypatch.setattr(cgroups.os, "walk", walk_with_a_group_that_vanishes)
    assert cgroups.sweep(machine) == []  # the kernel's files cannot be unlinked and do not hinder rmdir; these do
    assert ending.is_dir()


def test_only_trees_that_are_gone_are_reported(machine: Cgroups, monkeypatch: pytest.MonkeyPatch) -> None:
    base = machine.roots[0] / BASE
    for name in ("busy-1", "ended-1"):
        group(base / name / "system")
    (base / "ended-1" / "system" / "cgroup.procs").unlink()  # a real group's files go with it
    assert cgroups.sweep(machine) == ["ended-1"]
    assert (base / "busy-1").is_dir()


def test_lock_that_any_user_can_take_holds_nobody_up(machine: Cgroups) -> None:
    """Folders of the hierarchies can be opened, and so locked, by every user."""
    handles = [os.open(folder, os.O_RDONLY) for folder in (machine.roots[0], machine.roots[0].parent, cgroups.MOUNT)]
    for handle in handles:
        fcntl.flock(handle, fcntl.LOCK_EX)
    group(machine.roots[0] / BASE / "ended-1")
    done = threading.Thread(target=cgroups.sweep, args=(machine,), daemon=True)
    done.start()
    done.join(20)
    for handle in handles:
        os.close(handle)
    assert not done.is_alive()
    assert stat.S_IMODE(cgroups.LOCK.stat().st_mode) == 0o600


def test_lock_that_is_not_given_back_is_named(machine: Cgroups, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "_PATIENCE", 0.1)
    with locked(cgroups.LOCK), pytest.raises(LocalClusterError, match=r"(?s)lock .*fuser -v"):
        cgroups.sweep(machine)


class Kernel:
    """Version 2's rules over folders: what is written where, in which order, and what is refused."""

    def __init__(self, root: Path, *, busy: bool) -> None:
        self.root, self.busy = root, busy
        self.written: list[tuple[str, str]] = []
        self.members: dict[Path, list[str]] = {root: ["7", "8"] if busy else []}
        root.mkdir()
        self._fill(root)

    def mkdir(self, path: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        if not path.is_dir():
            os.mkdir(path, mode)  # noqa: PTH102 - Path.mkdir is what this stands for
            self._fill(path)

    def write(self, path: Path, text: str) -> None:
        group, name = path.parent, path.name
        if name == "cgroup.subtree_control":
            if self.members.get(group):
                raise OSError(errno.EBUSY, "Device or resource busy", str(path))
            self._put(path, text.replace("+", ""))
        elif name == "cgroup.procs":
            assert not (group / "cgroup.subtree_control").read_text(), f"{group} is an inner group"
            for members in self.members.values():
                members[:] = [each for each in members if each != text]
            self.members.setdefault(group, []).append(text)
        self.written.append((str(path.relative_to(self.root)), text))

    def _fill(self, group: Path) -> None:
        inherited = group.parent / "cgroup.subtree_control"
        self._put(group / "cgroup.controllers", inherited.read_text() if inherited.exists() else "cpu memory pids")
        self._put(group / "cgroup.subtree_control", "")
        self._put(group / "cgroup.procs", "\n".join(self.members.get(group, [])))

    @staticmethod
    def _put(path: Path, text: str) -> None:
        with path.open("w") as stream:
            stream.write(text)


@pytest.fixture
def kernel(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """The root of a machine, or (busy) of a container with a cgroup namespace of its own."""
    made = Kernel(tmp_path / "cgroup", busy=request.param)
    monkeypatch.setattr(cgroups, "LOCK", tmp_path / "lock")
    monkeypatch.setattr(Path, "mkdir", lambda path, *options, **named: made.mkdir(path, *options, **named))
    monkeypatch.setattr(Path, "write_text", lambda path, text: made.write(path, text))
    return made


ALL = "+cpu +memory +pids"


@pytest.mark.parametrize("kernel", [False], indirect=True)
def test_version_2_enables_controllers_from_the_root_down_and_enters_a_leaf(kernel: Kernel) -> None:
    cgroups.create(find_cgroups(kernel.root), "modelyard/dev-1", ["node-1"])
    assert kernel.written == [
        ("cgroup.subtree_control", ALL),
        ("modelyard/cgroup.subtree_control", ALL),
        ("modelyard/dev-1/cgroup.subtree_control", ALL),
        ("modelyard/dev-1/system/cgroup.procs", "0"),
    ]
    assert (kernel.root / "modelyard/dev-1/node-1/cgroup.controllers").read_text() == "cpu memory pids"


@pytest.mark.parametrize("kernel", [True], indirect=True)
def test_version_2_moves_processes_out_of_the_root_of_a_container(kernel: Kernel) -> None:
    cgroups.create(find_cgroups(kernel.root), "modelyard/dev-1", ["node-1"])
    assert kernel.written[:3] == [
        ("init/cgroup.procs", "7"),
        ("init/cgroup.procs", "8"),
        ("cgroup.subtree_control", ALL),
    ]
    inner = [group for group, members in kernel.members.items() if members and any(group.glob("*/"))]
    assert inner == []


def walk_with_a_group_that_vanishes(tree: Path, topdown: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    yield str(tree / "node-1" / "pod-that-ended"), [], []
    yield str(tree), [], []
