"""What a node may write of the machine: nothing. Seen from inside a node's mounts, made anew for each test.

Mount namespaces are all that is needed here: no cluster runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from modelyard.local.host.cgroups import find_cgroups
from modelyard.local.node import root as node_root

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mount namespaces need root")

_INSIDE = """
import errno, json, os, pathlib, sys
from modelyard.local.node import mounts as node_mounts
from modelyard.local.state.plan import NodePlan
root, binary, cgroup = sys.argv[1:]
node_mounts.enter(NodePlan("node-1", root, {binary: "/opt/modelyard/bin/tool"}, cgroup, []))

def tried(act):
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"

def write(path, text="x"):
    with open(path, "w") as stream:
        stream.write(text)

groups = [f"/sys/fs/cgroup/{each}" for each in json.load(sys.stdin)]
print(json.dumps({
    "usr": tried(lambda: write("/usr/local/bin/x")),
    "ca certificates": tried(lambda: write("/etc/ssl/x")),
    "new device": tried(lambda: write("/dev/x")),
    "mode of a device": tried(lambda: os.chmod("/dev/null", 0o666)),
    "use of a device": tried(lambda: write("/dev/null")),
    "machine's sysctl": tried(lambda: write("/proc/sys/kernel/domainname")),
    "network's sysctl": tried(lambda: write("/proc/sys/net/ipv4/ip_forward", "1")),
    "kubelet's sysctl": tried(lambda: write("/proc/sys/vm/overcommit_memory", "1")),
    "sysrq": tried(lambda: open("/proc/sysrq-trigger", "w").close()),
    "sys": tried(lambda: open("/sys/kernel/profiling", "w").close()),
    "binary": tried(lambda: write("/opt/modelyard/bin/tool")),
    "own": tried(lambda: write("/var/lib/own")),
    "machine's cgroups": sorted({tried(lambda: os.rmdir(os.mkdir(f"{each}/x") or f"{each}/x")) for each in groups}),
    "own cgroup": sorted({tried(lambda: os.mkdir(f"{each}/{cgroup}/x")) for each in groups}),
    "undone": sorted({tried(lambda: os.rmdir(f"{each}/{cgroup}/x")) for each in groups}),
    "root": sorted(os.listdir("/")),
    "home": os.listdir("/home"),
    "mounts": [line.split()[4] for line in open("/proc/self/mountinfo")],
}))
"""


@pytest.fixture
def cgroup() -> Iterator[str]:
    """A cgroup that `sweep` does not know."""
    path = f"modelyard-tests-{os.getpid()}/node-1"
    made = [root / path for root in find_cgroups().roots]
    for group in made:
        group.mkdir(parents=True)
    yield path
    for group in made:
        group.rmdir()
        group.parent.rmdir()


def enter(root: Path, binary: Path, cgroup: str) -> dict[str, object]:
    """Return what a process sees and may do in a node whose root is `root`."""
    done = subprocess.run(
        ["unshare", "--fork", "--pid", "--mount", "--net", "--uts", "--mount-proc",
         sys.executable, "-P", "-c", _INSIDE, root, binary, cgroup],
        input=json.dumps([str(each.relative_to("/sys/fs/cgroup")) for each in find_cgroups().roots]),
        text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_node_writes_its_own_and_nothing_of_the_machine(tmp_path: Path, cgroup: str) -> None:
    root, binary = made(tmp_path)
    found = enter(root, binary, cgroup)
    assert found.pop("sysrq") in ("EROFS", "ENOENT")  # not every kernel has it
    refused = {what for what, result in found.items() if result == "EROFS"}
    assert refused == {
        "usr", "ca certificates", "new device", "mode of a device", "machine's sysctl", "sys", "binary",
    }  # fmt: skip
    allowed = {what for what, result in found.items() if result == "done"}
    assert allowed == {"use of a device", "network's sysctl", "kubelet's sysctl", "own"}
    assert found["machine's cgroups"] == ["EROFS"]
    assert found["own cgroup"] == found["undone"] == ["done"]
    assert not {".old", "work"} & set(list_of(found["root"]))
    assert (root / "var/lib/own").read_text() == "x"
    assert (root / "etc/modelyard/sysctl/vm/overcommit_memory").read_text() == "1"


def test_links_where_mounts_belong_lead_nowhere(tmp_path: Path, cgroup: str) -> None:
    root, binary = made(tmp_path)
    machine = tmp_path / "machine"
    machine.mkdir()
    (machine / "tool").write_text("the machine's")
    for name in ("dev", "proc", "sys", "run", "usr", "opt", "etc", ".old"):
        place = root / name
        if place.exists():
            place.rename(root / f"{name}.before")
        place.symlink_to(machine)
    node_root.prepare(root, "node-1", {})
    for name in ("dev", "opt"):  # once more, after `prepare`
        (root / name).rename(root / f"{name}.again")
        (root / name).symlink_to(machine)

    found = enter(root, binary, cgroup)

    assert found["usr"] == found["binary"] == "EROFS"
    assert {"/usr", "/dev", "/proc", "/sys", "/run", "/opt/modelyard/bin/tool"} <= set(list_of(found["mounts"]))
    assert [path.name for path in machine.iterdir()] == ["tool"]
    assert (machine / "tool").read_text() == "the machine's"


def made(tmp_path: Path) -> tuple[Path, Path]:
    root, binary = tmp_path / "root", tmp_path / "binary"
    binary.write_text("a binary")
    node_root.prepare(root, "node-1", {})
    return root, binary


def list_of(value: object) -> list[str]:
    assert isinstance(value, list)
    return value
