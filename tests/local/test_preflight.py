"""Each thing that a machine may lack: the check that finds it, and the command that mends it."""

from __future__ import annotations

import ctypes
import dataclasses
import os
from pathlib import Path

import pytest

from modelyard.errors import HostError
from modelyard.local.build.debian import HOST_PACKAGES
from modelyard.local.build.store import Store
from modelyard.local.host.cgroups import find_cgroups, missing_controllers
from modelyard.local.host.facts import PROGRAMS, HostFacts, gather
from modelyard.local.host.preflight import PACKAGES, checks, require
from modelyard.local.host.procfs import inotify_of, inotify_used

GOOD = HostFacts(
    uid=0,
    cpus=2,
    memory_mib=8192,
    memory_available_mib=6000,
    disk_free_mib=50000,
    state_file_system="ext4",
    cache_free_mib=50000,
    cache_filled=False,
    machine="x86_64",
    kernel=(6, 1),
    tried=frozenset(),
    cgroup_version=1,
    missing_controllers=(),
    missing_capabilities=(),
    missing_file_systems=(),
    missing_programs=(),
    bridge_netfilter=True,
    inotify_limit=128,
    inotify_used=10,
    namespaces=("cgroup", "ipc", "mnt", "net", "pid", "user", "uts"),
)
LACKS = [
    ({"uid": 1000}, "root", "sudo"),
    ({"missing_capabilities": ("CAP_SYS_ADMIN",)}, "capabilities", "--privileged"),
    ({"namespaces": ("mnt", "pid")}, "kernel namespaces", "CONFIG_NAMESPACES"),
    ({"kernel": (5, 10)}, "kernel", "Debian 12"),
    ({"machine": "aarch64"}, "architecture", "MODELYARD_TRY=aarch64"),
    ({"machine": "riscv64", "tried": frozenset({"riscv64"})}, "architecture", "use a machine with x86-64"),
    ({"cgroup_version": 2}, "cgroup version", "MODELYARD_TRY=cgroup-v2"),
    ({"missing_controllers": ("memory",)}, "cgroup controllers (version 1)", "mount the cgroup"),
    ({"missing_file_systems": ("overlay",)}, "kernel file systems", "kmod && modprobe -a overlay"),
    ({"state_file_system": "overlay"}, "state folder's file system", "MODELYARD_STATE_DIR"),
    ({"state_file_system": "fuse.sshfs"}, "state folder's file system", "MODELYARD_STATE_DIR"),
    ({"missing_programs": ("ip", "conntrack")}, "programs", "apt-get install conntrack iproute2"),
    ({"missing_programs": ("mmdebstrap",)}, "programs", "apt-get install mmdebstrap"),
    ({"missing_programs": ("apt-get", "dpkg-deb")}, "Debian's apt", "Debian 12"),
    ({"bridge_netfilter": False}, "bridge netfilter", "modprobe br_netfilter"),
    ({"cpus": 1}, "CPUs", "more CPUs"),
    ({"memory_mib": 2048}, "memory", "more memory"),
    ({"memory_available_mib": 100}, "available memory", "ps aux"),
    ({"disk_free_mib": 10}, "disk space", "MODELYARD_STATE_DIR"),
    ({"cache_free_mib": 20000}, "disk space of the cache", "MODELYARD_CACHE_DIR"),
    ({"cache_free_mib": 1000, "cache_filled": True}, "disk space of the cache", "modelyard local prune"),
    ({"inotify_used": 120}, "inotify instances", "sysctl -w fs.inotify.max_user_instances=512"),
]


def test_machine_that_has_all_passes() -> None:
    require(GOOD)
    assert all(check.ok and not check.remedy for check in checks(GOOD))


@pytest.mark.parametrize(("change", "name", "remedy"), LACKS, ids=[str(case[0]) for case in LACKS])
def test_each_lack_is_found_and_has_a_remedy(change: dict[str, object], name: str, remedy: str) -> None:
    failed = [check for check in checks(dataclasses.replace(GOOD, **change)) if not check.ok]
    assert [check.name for check in failed] == [name]
    assert remedy in failed[0].remedy


def test_every_program_has_a_package_and_every_installed_package_a_program() -> None:
    assert set(PACKAGES) == set(PROGRAMS)
    in_every_debian = {"mount", "util-linux"}
    assert set(PACKAGES.values()) - in_every_debian == set(HOST_PACKAGES)


def test_filled_cache_and_none_need_little_space() -> None:
    require(dataclasses.replace(GOOD, cache_free_mib=3000, cache_filled=True))
    require(dataclasses.replace(GOOD, cache_free_mib=None))


def test_what_was_never_seen_to_run_is_tried_when_asked_for_and_says_so() -> None:
    host = dataclasses.replace(GOOD, cgroup_version=2, machine="aarch64", tried=frozenset({"cgroup-v2", "aarch64"}))
    require(host)
    said = [check.found for check in checks(host) if check.name in ("architecture", "cgroup version")]
    assert all("not seen it run" in each for each in said)
    assert len(said) == 2


def test_what_to_try_is_read_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELYARD_TRY", "cgroup-v2, aarch64")
    assert gather(tmp_path).tried == {"cgroup-v2", "aarch64"}


def test_every_check_is_seen_to_fail() -> None:
    assert {name.split(" (")[0] for _, name, _ in LACKS} == {check.name.split(" (")[0] for check in checks(GOOD)}


def test_up_is_refused_with_the_first_lack_and_names_the_others() -> None:
    with pytest.raises(HostError, match=r"^root: user id 1000.*also wrong: CPUs") as error:
        require(dataclasses.replace(GOOD, uid=1000, cpus=1))
    assert error.value.exit_code == 9


def test_facts_of_this_machine_can_be_read(tmp_path: Path) -> None:
    facts = gather(tmp_path / "not" / "there", tmp_path / "nor" / "there")
    assert facts.cpus >= 1
    assert 0 < facts.memory_available_mib <= facts.memory_mib
    assert facts.disk_free_mib > 0
    assert facts.state_file_system
    assert facts.cache_free_mib
    assert not facts.cache_filled


def test_cache_is_filled_once_it_holds_the_clusters_binaries(tmp_path: Path) -> None:
    def large(target: Path) -> None:
        with target.open("wb") as stream:
            stream.truncate(600 << 20)  # sparse: takes no disk

    Store(tmp_path / "store").get("binary", "small", lambda target: target.write_text("x") and None)
    assert not gather(tmp_path, tmp_path).cache_filled
    Store(tmp_path / "store").get("binary", "large", large)
    assert gather(tmp_path, tmp_path).cache_filled


def test_controllers_of_both_versions_are_found(tmp_path: Path) -> None:
    two = tmp_path / "two"
    two.mkdir()
    (two / "cgroup.controllers").write_text("cpuset cpu io\n")
    assert find_cgroups(two).version == 2
    assert missing_controllers(find_cgroups(two)) == ["memory", "pids"]

    one = tmp_path / "one"
    for name in ("cpu,cpuacct", "memory", "pids", "devices", "freezer", "unified"):
        (one / name).mkdir(parents=True)
        (one / name / "cgroup.procs").touch()
    assert find_cgroups(one).version == 1
    assert missing_controllers(find_cgroups(one)) == ["cpuset"]

    assert missing_controllers(find_cgroups(tmp_path / "none")) == sorted(
        ["cpu", "cpuacct", "cpuset", "memory", "pids", "devices", "freezer"]
    )


def test_inotify_instances_in_use_are_counted() -> None:
    handle = ctypes.CDLL(None).inotify_init1(os.O_CLOEXEC)
    try:
        assert inotify_of(os.getpid()) == 1
        assert inotify_used(os.geteuid()) >= 1
    finally:
        os.close(handle)
    assert inotify_of(os.getpid()) == 0
