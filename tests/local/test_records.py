"""What is kept on disk: who the supervisor is, private files, logs."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from modelyard.errors import LocalClusterError
from modelyard.local.host.files import locked, make_private_dir, read_json, write_json, write_private
from modelyard.local.host.ports import listen
from modelyard.local.host.procfs import ProcessId, identify, is_alive
from modelyard.local.lifecycle.log_reader import choose_logs
from modelyard.local.state.etcd_data import begin_etcd, mark_etcd_as_served
from modelyard.local.state.layout import Layout
from modelyard.local.state.logs import rotate_all, tail
from modelyard.local.state.record import (
    Record,
    read_record,
    record_of,
    running_supervisor,
    write_record,
    write_supervisor,
)
from modelyard.local.state.spec import ClusterSpec


@pytest.fixture
def where(tmp_path: Path) -> Layout:
    return Layout(make_private_dir(tmp_path / "dev"))


def me() -> ProcessId:
    found = identify(os.getpid())
    assert found is not None
    return found


def test_record_is_read_as_written(where: Layout) -> None:
    record = Record(port=16443, nodes=2, fake_nodes=8, fake_gpus=4, nics=2, nic_mbit=400)
    write_record(where, record)
    assert read_record(where) == record


def test_record_of_before_there_were_nics_has_none(where: Layout) -> None:
    where.record.write_text('{"port": 16443, "nodes": 2, "fake_nodes": 0, "fake_gpus": 0}')
    assert read_record(where) == Record(port=16443, nodes=2, fake_nodes=0, fake_gpus=0, nics=0)


def test_rate_of_no_nic_makes_no_other_shape() -> None:
    assert record_of(ClusterSpec(nic_mbit=400), 1) == record_of(ClusterSpec(), 1)
    assert record_of(ClusterSpec(nics=1, nic_mbit=400), 1) != record_of(ClusterSpec(nics=1), 1)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"port": 1}', '{"port": "x", "nodes": 1}'])
def test_broken_record_is_none(where: Layout, text: str) -> None:
    where.record.write_text(text)
    assert read_record(where) is None


def test_supervisor_is_known_by_more_than_its_pid(where: Layout) -> None:
    write_supervisor(where, me())
    assert running_supervisor(where) == me()
    for stale in (
        ProcessId(me().pid, me().start - 1, me().boot),
        ProcessId(me().pid, me().start, "another boot"),
        ProcessId(2**22 + 1, me().start, me().boot),
    ):
        write_supervisor(where, stale)
        assert running_supervisor(where) is None


def test_zombie_is_not_alive() -> None:
    child = subprocess.Popen(["true"])
    process = identify(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert process is None or not is_alive(process)
    child.wait()


def test_private_files_are_private_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("old")
    path.chmod(0o644)
    write_private(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)
    assert [entry.name for entry in tmp_path.iterdir()] == ["key"]


def test_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert read_json(path) == {"a": 1}


def test_lock_is_exclusive_and_freed(tmp_path: Path) -> None:
    with locked(tmp_path / "lock"), pytest.raises(BlockingIOError, match="lock is held"), locked(tmp_path / "lock"):
        pass
    with locked(tmp_path / "lock"):
        pass


def test_port_is_never_one_of_another_cluster() -> None:
    with listen("one", None, frozenset()) as first:
        port = first.getsockname()[1]
        with pytest.raises(LocalClusterError, match=f":{port} of cluster two.*in use"):
            listen("two", port, frozenset())
    with listen("two", None, frozenset({port})) as second:
        assert second.getsockname()[0] == "127.0.0.1"
        assert second.getsockname()[1] != port


def test_own_port_is_waited_for_while_a_dying_supervisor_holds_it() -> None:
    with listen("one", None, frozenset()) as dying:
        port = dying.getsockname()[1]
        threading.Timer(0.2, dying.close).start()
        with listen("one", port, frozenset(), patience=10) as again:
            assert again.getsockname()[1] == port


def test_etcd_that_never_served_begins_anew(where: Layout) -> None:
    begin_etcd(where)
    half_written = where.etcd / "member"
    half_written.mkdir()
    begin_etcd(where)
    assert not half_written.exists()
    assert stat.S_IMODE(where.etcd.stat().st_mode) == 0o700


def test_data_of_an_etcd_that_has_served_is_kept(where: Layout) -> None:
    begin_etcd(where)
    data = where.etcd / "member"
    data.mkdir()
    mark_etcd_as_served(where)
    begin_etcd(where)
    begin_etcd(where)
    assert data.exists()


def test_tail_gives_the_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("".join(f"line {number} {'x' * 300}\n" for number in range(1000)))
    assert [line.split()[1] for line in tail(log, 3)] == ["997", "998", "999"]
    assert tail(tmp_path / "none.log", 3) == []


def test_large_log_is_moved_aside_while_its_writer_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelyard.local.state.logs._MOST", 100)
    log = tmp_path / "a.log"
    with log.open("a", buffering=1) as writer:
        writer.write("x" * 200 + "\n")
        rotate_all(tmp_path)
        writer.write("after\n")
    assert log.read_text() == "after\n"
    assert (tmp_path / "a.log.1").read_text().startswith("xxx")


def test_unknown_log_suggests_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELYARD_STATE_DIR", str(tmp_path))
    logs = make_private_dir(tmp_path / "dev" / "log")
    for name in ("supervisor", "kubelet@node-1", "etcd"):
        (logs / f"{name}.log").touch()
    with pytest.raises(LocalClusterError, match="did you mean kubelet@node-1"):
        choose_logs("dev", "kubelet")
    assert [title for title, _ in choose_logs("dev", "etcd")] == ["etcd"]
