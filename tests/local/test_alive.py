"""A cluster whose supervisor ends while something is done on it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from modelyard.apply.run import stopped
from modelyard.errors import CatalogError, LocalClusterError
from modelyard.local.host.procfs import identify
from modelyard.local.state.layout import Layout
from modelyard.local.state.record import write_supervisor
from modelyard.platform.embedded.alive import alive


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that stands for the supervisor of the cluster in tmp_path."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = identify(child.pid)
    assert process is not None
    write_supervisor(Layout(tmp_path), process)
    Layout(tmp_path).logs.mkdir()
    Layout(tmp_path).log("supervisor").write_text("namespaces are ready\nthe holder ended\n")
    yield child
    child.kill()
    child.wait()


def test_the_install_is_stopped_and_ends_with_one_message(supervisor: subprocess.Popen[bytes], tmp_path: Path) -> None:
    told = threading.Event()
    with (
        pytest.raises(LocalClusterError, match="the supervisor's last words: the holder ended") as caught,
        alive(Layout(tmp_path), told.set) as gone,
    ):
        supervisor.kill()
        supervisor.wait()
        assert told.wait(60)
        assert gone.is_set()
        raise stopped()
    assert f"modelyard install --name {tmp_path.name} brings it back and goes on" in caught.value.remedy


@pytest.mark.usefixtures("supervisor")
def test_where_the_cluster_lives_an_error_is_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(CatalogError), alive(Layout(tmp_path), lambda: None) as gone:
        assert not gone.wait(0.6)
        raise CatalogError("x", "y")


def test_what_ended_well_before_its_cluster_did_is_no_error(
    supervisor: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    with alive(Layout(tmp_path), lambda: None):
        supervisor.kill()
        supervisor.wait()


@pytest.mark.usefixtures("supervisor")
def test_a_disk_that_became_full_is_what_is_told(tmp_path: Path) -> None:
    """A small file system that is mounted where no one else sees it."""
    program = f"""
from pathlib import Path
from modelyard.errors import HostError, LocalClusterError, NotReadyError
from modelyard.platform.embedded.alive import alive
from modelyard.local.host import linux
from modelyard.local.state.layout import Layout
linux.unshare(linux.CLONE_NEWNS)
linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
linux.mount("tmpfs", {str(tmp_path)!r}, "tmpfs", data="size=8m")
for filled in (0, 7 << 20):
    (Path({str(tmp_path)!r}) / "wal").write_bytes(bytes(filled))
    try:
        with alive(Layout(Path({str(tmp_path)!r})), lambda: None):
            raise NotReadyError("etcd", "does not answer")
    except (HostError, LocalClusterError) as error:
        print(error.exit_code, error)
"""
    done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, check=False)
    first, second = (line for line in done.stdout.splitlines() if not line.startswith(" "))
    assert first.startswith("11 cluster "), done.stderr  # mounted over: no supervisor is known there
    assert second == f"9 disk of {tmp_path}: is full, and cluster {tmp_path.name} keeps its state there"
