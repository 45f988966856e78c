"""Kernel modules that a fresh machine has, but has not loaded."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from modelyard.local.host.facts import MODPROBE_SECONDS, has_bridge_netfilter, has_file_system
from modelyard.programs import run

_BRIDGE = Path("/proc/sys/net/bridge")


def load_missing() -> list[str]:
    """Load what the cluster needs and the kernel does not load by itself; return the modules' names.

    A module that cannot be loaded is left to the preflight checks. Links, iptables' matches and the like the
    kernel loads when they are first used.
    """
    wanted = [] if has_file_system("overlay") else ["overlay"]
    if not has_bridge_netfilter():
        wanted.append("br_netfilter")
    modprobe = shutil.which("modprobe", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if modprobe is None:
        return []
    loaded = [name for name in wanted if not run([modprobe, "-q", name], seconds=MODPROBE_SECONDS).problem]
    if "br_netfilter" in loaded:
        _keep_the_hosts_bridges_as_they_were()
    return loaded


def filter_bridged_packets() -> None:
    """Let iptables see this network namespace's bridged packets: a Service's answer may cross a bridge only."""
    if (_BRIDGE / "bridge-nf-call-iptables").exists():
        (_BRIDGE / "bridge-nf-call-iptables").write_text("1")


def _keep_the_hosts_bridges_as_they_were() -> None:
    # The module begins to filter in every namespace; the setting is a namespace's own since Linux 5.3.
    for name in ("bridge-nf-call-iptables", "bridge-nf-call-ip6tables", "bridge-nf-call-arptables"):
        with contextlib.suppress(OSError):
            (_BRIDGE / name).write_text("0")
