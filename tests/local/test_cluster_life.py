"""A cluster's life: down and up, crashes, several at once, its files, its errors."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_helpers import Kubectl, eventually

from modelyard.errors import LocalClusterError
from modelyard.local import ClusterInfo, ClusterSpec, down, image_digests, status
from modelyard.local.host.files import locked, write_json
from modelyard.local.host.procfs import identify
from modelyard.local.lifecycle.log_reader import choose_logs
from modelyard.local.lifecycle.report import ClusterStatus
from modelyard.local.state.layout import layout, make_root

Bring = Callable[..., ClusterInfo]
KubectlFor = Callable[[ClusterInfo], Kubectl]


def component(name: str, wanted: str) -> object:
    return next(each for each in status(name).components if each.name == wanted)


def eventually_ready(name: str) -> ClusterStatus:
    """Return the status once it says ready: on a busy machine an answer may be late, without a fault."""
    seen: list[ClusterStatus] = []

    def ready() -> bool:
        seen.append(status(name))
        return seen[-1].ready

    eventually(ready, f"{name} is ready", seen=lambda: seen[-1].reason)
    return seen[-1]


def test_data_and_images_survive_down_and_up(own: Any, kubectl_for: KubectlFor) -> None:
    info = own()
    kubectl = kubectl_for(info)
    kubectl("create", "configmap", "kept", "--from-literal=a=b")
    uid = kubectl.json("get", "namespace", "kube-system")["metadata"]["uid"]
    images = image_digests(info.name)
    assert "registry.k8s.io/pause:3.10.1" in images
    assert down(info.name).cleanly
    again = own()
    assert (again.port, again.kubeconfig) == (info.port, info.kubeconfig)
    assert kubectl.json("get", "configmap", "kept")["data"] == {"a": "b"}
    assert kubectl.json("get", "namespace", "kube-system")["metadata"]["uid"] == uid
    assert image_digests(info.name) == images


def test_crashed_component_is_restarted_and_shown(own: Any) -> None:
    name = own().name
    before = component(name, "kube-scheduler")
    os.kill(before.pid, signal.SIGKILL)
    eventually(lambda: component(name, "kube-scheduler").restarts == 1, "restart is counted")
    eventually_ready(name)
    after = component(name, "kube-scheduler")
    assert after.pid != before.pid
    assert after.last_exit == "ended by SIGKILL"
    assert [title for title, _ in choose_logs(name, "")] == ["supervisor", "kube-scheduler"]
    assert "kube-scheduler ended by SIGKILL; restart 1" in layout(name).log("supervisor").read_text()


def test_apiserver_that_crashes_comes_back_under_the_same_port(own: Any, kubectl_for: KubectlFor) -> None:
    info = own()
    os.kill(component(info.name, "kube-apiserver").pid, signal.SIGKILL)
    eventually(lambda: not status(info.name).ready, "status sees it")
    eventually_ready(info.name)
    assert "node-1" in kubectl_for(info)("get", "nodes")


def test_clusters_run_side_by_side(own: Any, kubectl_for: KubectlFor) -> None:
    one, two = own("a"), own("b")
    assert one.port != two.port
    kubectl_for(one)("create", "configmap", "only-in-one")
    assert "only-in-one" not in kubectl_for(two)("get", "configmaps")
    down(one.name)
    eventually_ready(two.name)


def test_keys_and_kubeconfigs_are_private(cluster: ClusterInfo) -> None:
    root = layout(cluster.name).root
    secret = [path for path in root.rglob("*") if path.suffix in (".key", ".kubeconfig") or path.name == "kubeconfig"]
    secret = [path for path in secret if "containerd" not in path.parts]
    assert len(secret) > 12
    assert {oct(stat.S_IMODE(path.stat().st_mode)) for path in secret} == {"0o600"}
    assert stat.S_IMODE(root.stat().st_mode) == 0o700


def test_status_document_names_pids_of_the_host(cluster: ClusterInfo) -> None:
    document = json.loads(json.dumps(eventually_ready(cluster.name).to_json()))
    assert document["supervisor"]["pid"] == cluster.supervisor_pid
    assert document["ready"] is True
    assert [node["name"] for node in document["nodes"]] == ["node-1"]
    running = [part for part in document["components"] if part["state"] == "running"]
    assert {"etcd", "kube-apiserver", "kubelet@node-1", "coredns"} <= {part["name"] for part in running}
    for part in running:
        command = Path(f"/proc/{part['pid']}/comm").read_text().strip()
        assert part["name"].split("@")[0].startswith(command)


def test_up_of_a_running_cluster_changes_nothing(cluster: ClusterInfo, bring: Bring) -> None:
    again = bring(ClusterSpec(name=cluster.name))
    assert again.already_up
    assert (again.supervisor_pid, again.port) == (cluster.supervisor_pid, cluster.port)
    with pytest.raises(LocalClusterError, match="another shape"):
        bring(ClusterSpec(name=cluster.name, nodes=2))
    eventually_ready(cluster.name)


def test_port_in_use_is_named(stopped: ClusterInfo, bring: Bring) -> None:
    with (
        socket.create_server(("127.0.0.1", stopped.port)),
        pytest.raises(LocalClusterError, match=f"127.0.0.1:{stopped.port}.*in use") as error,
    ):
        bring(ClusterSpec(name=stopped.name))
    assert "--port" in error.value.remedy


def test_up_asks_once_which_packages_the_machine_has(own: Any, tmp_path: Path) -> None:
    asked, name = tmp_path / "asked", own.name()
    query = tmp_path / "dpkg-query"
    query.write_text(f'#!/usr/bin/bash\necho >>{asked}\nPATH=${{PATH#*:}} exec dpkg-query "$@"\n')
    query.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as taken:  # so that nothing starts
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-m", "modelyard", "local", "up", "--name", name, "--port", port],
            env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
            text=True,
            capture_output=True,
            check=False,
        )
    assert done.returncode == 11, done.stderr
    assert f"127.0.0.1:{port}" in done.stderr
    assert asked.read_text() == "\n"


def test_second_command_at_the_same_time_is_refused(stopped: ClusterInfo, bring: Bring) -> None:
    with locked(layout(stopped.name).lock):
        for command in (lambda: bring(ClusterSpec(name=stopped.name), timeout=0.5), lambda: down(stopped.name)):
            with pytest.raises(LocalClusterError, match="another `modelyard local` command"):
                command()


def test_stale_pid_file_of_a_reused_pid_does_not_stop_up(stopped: ClusterInfo, bring: Bring) -> None:
    me = identify(os.getpid())
    assert me is not None
    write_json(layout(stopped.name).supervisor, {"pid": me.pid, "start": me.start - 1, "boot": me.boot})
    assert not status(stopped.name).running
    again = bring(ClusterSpec(name=stopped.name))
    assert again.supervisor_pid != me.pid
    assert again.port == stopped.port
    assert down(stopped.name).cleanly


def test_component_that_cannot_start_is_named_with_its_last_words(own: Any) -> None:
    where = layout(own.name())
    make_root(where)
    data = where.etcd / "member" / "snap"
    data.mkdir(parents=True)
    (data / "db").write_bytes(b"not a database" * 1000)
    with pytest.raises(LocalClusterError, match=r"etcd .*restarts"):
        own(timeout=30)  # etcd has ended many times by then, on a busy machine too
    assert not status(own.name()).running


def test_up_without_root_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    program = """
import ctypes, os, sys
from pathlib import Path
from modelyard.errors import HostError
from modelyard.local import ClusterSpec
from modelyard.local.lifecycle import bring_up
os.environ["MODELYARD_STATE_DIR"] = sys.argv[1]
os.setresuid(65534, 65534, 65534)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: /proc/self is the new user's, as after an exec
try:
    bring_up.up(ClusterSpec(name="dev"), {}, Path("none"))
except HostError as error:
    print(error.exit_code, error)
"""
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], text=True, capture_output=True, check=True)
    assert done.stdout.startswith("9 root: user id 65534, but user id 0 is needed")
    assert "sudo" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_state_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A full disk, by a small file system that is mounted where no one else sees it."""
    program = f"""
import os
from pathlib import Path
from modelyard.errors import HostError
from modelyard.local.host import linux
from modelyard.local import ClusterSpec, up
from modelyard.local.lifecycle import bring_up
linux.unshare(linux.CLONE_NEWNS)
linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
linux.mount("tmpfs", {str(tmp_path)!r}, "tmpfs", data="size=64k")
os.environ["MODELYARD_STATE_DIR"] = {str(tmp_path)!r}
bring_up.require = lambda facts: None  # which would refuse such a disk
try:
    names = __import__("modelyard.local.node.components", fromlist=["x"])
    wanted = (*names.NODE_BINARIES, *names.CNI_PLUGINS, "kube-apiserver", "kube-controller-manager")
    binaries = {{name: Path("/none") for name in (*wanted, "kube-scheduler", "etcd", "coredns", "kwok")}}
    up(ClusterSpec(name="dev", nodes=8), binaries, Path("/none"))
except HostError as error:
    print(error.exit_code, error)
"""
    done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, check=False)
    assert done.stdout.startswith(f"9 state folder {tmp_path}/dev: No space left on device"), done.stderr
    assert "MODELYARD_STATE_DIR" in done.stdout
