"""What the processes of an embedded cluster use, as /proc and the cgroups show it."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from modelyard.local.host.cgroups import find_cgroups
from modelyard.local.host.procfs import pids, resident_bytes, stat_fields
from modelyard.local.state.layout import layout
from modelyard.local.state.record import running_supervisor

_PROC = Path("/proc")
# "-7d9f8b6c5-x2x9k" of a Deployment's pod, so that a figure is the same thing in every run.
_POD_SUFFIX = re.compile(r"-[a-z0-9]{6,10}-[a-z0-9]{5}$")
_MIB = 1 << 20


def resident_by_name(cluster: str) -> dict[str, float]:
    """Return the resident memory, in MiB, of the supervisor and all below it, by component or pod."""
    found: dict[str, float] = defaultdict(float)
    for pid in _tree(cluster):
        found[_name(pid)] += resident_bytes(pid) / _MIB
    return dict(found)


def cpu_by_name(cluster: str) -> dict[str, float]:
    """Return the CPU seconds that those processes have used, by component or pod.

    A process that begins and ends in between is not in it: `cpu_total` has everything.
    """
    found: dict[str, float] = defaultdict(float)
    for pid in _tree(cluster):
        found[_name(pid)] += _cpu_seconds(pid)
    return dict(found)


def cpu_total(cluster: str) -> float:
    """Return the CPU seconds that the cluster's cgroup has used, those of ended processes too."""
    path = layout(cluster).cgroup
    for root in find_cgroups().roots:
        group = root / path
        if (group / "cpuacct.usage").is_file():
            return int((group / "cpuacct.usage").read_text()) / 1e9
        if (group / "cpu.stat").is_file() and "usage_usec" in (text := (group / "cpu.stat").read_text()):
            return int(text.split("usage_usec", 1)[1].split()[0]) / 1e6
    raise LookupError(f"no cgroup counts the CPU time of {path}")


def resident_mib(root: int) -> float:
    """Return the resident memory, in MiB, of the process `root` and all below it; shared pages count more than once."""
    return sum(map(resident_bytes, _below(root))) / _MIB


def _tree(cluster: str) -> set[int]:
    supervisor = running_supervisor(layout(cluster))
    if supervisor is None:
        raise LookupError(f"cluster {cluster} does not run")
    return _below(supervisor.pid)


def _below(root: int) -> set[int]:
    children: Mapping[int, list[int]] = _children()
    found, todo = set(), [root]
    while todo:
        pid = todo.pop()
        found.add(pid)
        todo.extend(children.get(pid, []))
    return found


def _children() -> dict[int, list[int]]:
    found = defaultdict(list)
    for pid in pids():
        if (fields := stat_fields(pid)) is not None:
            found[int(fields[1])].append(pid)
    return found


def _cpu_seconds(pid: int) -> float:
    fields = stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _name(pid: int) -> str:
    """Return the pod that the process runs in, else the command's name."""
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
        command = (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")
    except OSError:
        return "(ended)"
    settings = dict(entry.split(b"=", 1) for entry in environment if b"=" in entry)
    if b"KUBERNETES_SERVICE_HOST" in settings and b"HOSTNAME" in settings:
        return "pod " + _POD_SUFFIX.sub("", settings[b"HOSTNAME"].decode())
    return Path(command).name
