"""What node-problem-detector looks for: kernels' own lines, each found by the rule that is for it and by no other."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from modelyard.objects import Object, mappings, text
from modelyard.paths import data_root

FOLDER = data_root() / "manifests/healing/node-problem-detector"
# Lines as Linux 5.10 to 6.12 and NVIDIA's driver write them, and the reasons they must give.
LINES = {
    "Memory cgroup out of memory: Killed process 4711 (python3) total-vm:81920kB, anon-rss:32100kB, file-rss:4096kB, "
    "shmem-rss:0kB, UID:0 pgtables:120kB oom_score_adj:985": {"OOMKilling"},
    "INFO: task python3:4711 blocked for more than 120 seconds.": {"TaskHung"},
    "INFO: task containerd-shim:4711 blocked for more than 122 seconds.": {"TaskHung", "ContainerRuntimeHung"},
    "BUG: kernel NULL pointer dereference, address: 0000000000000008": {"KernelOops"},
    "BUG: unable to handle page fault for address: ffffb0c4c0400000": {"KernelOops"},
    "Oops: divide error: 0000 [#1] PREEMPT SMP NOPTI": {"KernelOops"},
    "EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm bash: reading directory lblock 0": {"Ext4Error"},
    "Buffer I/O error on dev sda1, logical block 1, async page read": {"IOError"},
    "I/O error, dev nvme0n1, sector 2048 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2": {"IOError"},
    "XFS (sdb1): Filesystem has been shut down due to log error (0x2).": {"XfsHasShutDown"},
    "XFS (sdb1): Corruption of in-memory data detected.  Shutting down filesystem": {"XfsHasShutDown"},
    "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0": {"MemoryReadError"},
    "{1}[Hardware Error]: event severity: corrected": {"HardwareErrorCorrected"},
    "{1}[Hardware Error]: event severity: fatal": {"FatalHardwareError"},
    "NVRM: Xid (PCI:0000:3b:00): 13, pid=4711, name=python3, Graphics SM Warp Exception": {"GPUError"},
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, GPU has fallen off the bus.": {"GPUError", "GPUNeedsReset"},
    "EXT4-fs (sda1): mounted filesystem with ordered data mode": set(),
    "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15": set(),
}


@pytest.fixture(scope="module")
def rules() -> list[Object]:
    config: Object = json.loads((FOLDER / "kernel-monitor.json").read_text())
    return mappings(config, "rules")


@pytest.mark.parametrize("line", LINES)
def test_a_line_gives_its_reasons(line: str, rules: list[Object]) -> None:
    # NPD wants the match to reach the line's end: LogBuffer.Match in pkg/systemlogmonitor/log_buffer.go
    assert {text(rule, "reason") for rule in rules if re.search(f"(?:{text(rule, 'pattern')})\\Z", line)} == LINES[line]


def test_every_rule_has_a_line(rules: list[Object]) -> None:
    assert {text(rule, "reason") for rule in rules} == set().union(*LINES.values())


@pytest.mark.parametrize("name", ["kernel-monitor.json", "disk-monitor.json"])
def test_every_lasting_problem_has_its_condition(name: str) -> None:
    config: Object = json.loads((FOLDER / name).read_text())
    wanted = {text(rule, "condition") for rule in mappings(config, "rules") if text(rule, "type") == "permanent"}
    assert {text(each, "type") for each in mappings(config, "conditions")} == wanted


def test_a_disk_that_takes_writes_is_found_so(tmp_path: Path) -> None:
    assert _written(tmp_path / "new") == 0


def test_what_is_no_answer_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert _written(tmp_path / "file") == 2


def _written(folder: Path) -> int:
    return subprocess.run(["sh", FOLDER / "writable.sh", folder], check=False, capture_output=True).returncode
