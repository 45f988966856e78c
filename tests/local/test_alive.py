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
from modelyard.local.alive import alive
from modelyard.local.runtime.layout import Layout
from modelyard.local.runtime.procfs import identify
from modelyard.local.runtime.record import write_supervisor


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
