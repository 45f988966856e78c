"""The way to the cluster breaks, or the installer is killed: nothing is lost, and the next run converges.

Cases: the apiserver is gone for longer than the patience; it is gone for a moment; a kubeconfig that points
nowhere; kill -9 of the installer at several moments; Ctrl-C in the middle, once and twice.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest
import yaml
from apply_helpers import ABOUT, Events, config_map, definition, deployment, namespace, rendered, thing

from modelyard.apply import install, status
from modelyard.apply.members import parent_ref, read
from modelyard.cluster import Session, Watcher, connect
from modelyard.cluster.transport import READ_SECONDS
from modelyard.errors import ClusterUnreachableError
from modelyard.local import ClusterInfo
from modelyard.objects import ObjectRef
from modelyard.plan import kinds

PATIENCE_SECONDS = 300.0  # for an installer to come to its first objects; other tests run beside it


class Relay:
    """A way to the apiserver that can be cut and mended."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._open: set[socket.socket] = set()
        self._whole = threading.Event()
        self._whole.set()
        self._flowing = threading.Event()
        self._flowing.set()
        self.holds = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break every connection; new ones are closed at once."""
        self._whole.clear()
        for each in list(self._open):
            with_shutdown(each)

    def mend(self) -> None:
        """Let new connections through."""
        self._whole.set()

    def hold(self) -> None:
        """Let nothing through, though connections stay; `holds` is set once somebody asks for something."""
        self._flowing.clear()

    def close(self) -> None:
        """End."""
        self.cut()
        self._flowing.set()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if not self._whole.is_set():
                near.close()
                continue
            far = socket.create_connection(("127.0.0.1", self._target))
            self._open |= {near, far}
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                if not self._flowing.is_set() and source.getsockname()[1] == self.port:
                    self.holds.set()
                self._flowing.wait()
                sink.sendall(data)
        except OSError:
            pass
        with_shutdown(source)
        with_shutdown(sink)


def with_shutdown(each: socket.socket) -> None:
    """Break a connection, whatever its state."""
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def relay(cluster: ClusterInfo) -> Iterator[Relay]:
    made = Relay(cluster.port)
    yield made
    made.close()


@pytest.fixture
def relayed(cluster: ClusterInfo, relay: Relay, tmp_path: Path) -> Path:
    """A kubeconfig that goes through the relay."""
    content = yaml.safe_load(cluster.kubeconfig.read_text())
    content["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{relay.port}"
    file = tmp_path / "relayed"
    file.write_text(json.dumps(content))
    return file


def test_an_apiserver_that_goes_away_for_good_is_told_and_a_second_run_goes_on(
    session: Session, relayed: Path, relay: Relay, own: str, events: Events, shell: str
) -> None:
    item = rendered(own, namespace(own), config_map(own, "settings"), deployment(own, "slow", probe="false"))
    events.on_progress = lambda detail: relay.cut() if "slow" in detail else None
    with pytest.raises(ClusterUnreachableError) as caught:
        install(connect(relayed, patience=2), [item], emit=events, timeout=180)
    assert caught.value.exit_code == 6
    assert str(relay.port) in caught.value.subject
    assert "goes on where it was" in caught.value.remedy
    assert read(session, own) is not None
    mended = rendered(own, namespace(own), config_map(own, "settings"), deployment(own, "slow"))
    install(session, [mended], timeout=180)
    assert [each.ready for each in status(session) if each.name == own] == [True]


def test_an_apiserver_that_goes_away_for_a_moment_is_waited_for(
    session: Session, relayed: Path, relay: Relay, own: str, events: Events, shell: str
) -> None:
    cut = threading.Event()

    def on_progress(detail: str) -> None:
        if "slow" in detail and not cut.is_set():
            cut.set()
            relay.cut()
            threading.Timer(1.0, relay.mend).start()

    events.on_progress = on_progress
    item = rendered(own, namespace(own), deployment(own, "slow", "sleep 2; touched=1; sleep infinity"))
    install(connect(relayed, patience=30), [item], emit=events, timeout=180)
    assert cut.is_set()


def test_a_kubeconfig_that_points_nowhere_is_told(tmp_path: Path, relayed: Path, relay: Relay) -> None:
    with pytest.raises(ClusterUnreachableError, match="is not there"):
        connect(tmp_path / "none")
    with pytest.raises(ClusterUnreachableError, match="cannot be used"):
        connect(relayed, "no-such-context")
    (tmp_path / "broken").write_text("{")
    with pytest.raises(ClusterUnreachableError, match="cannot be used"):
        connect(tmp_path / "broken")
    relay.close()
    with pytest.raises(ClusterUnreachableError, match="does not answer"):
        connect(relayed, patience=0.5)


@pytest.fixture
def catalogue(tmp_path: Path, own: str, choice: None) -> Path:
    """A catalogue of one component, whose Deployment has an image that nobody has."""
    root = tmp_path / "root"
    base, overlay = root / "manifests/cluster" / own, root / "overlays/test" / own
    base.mkdir(parents=True)
    overlay.mkdir(parents=True)
    (root / "upstream.lock").write_text("upstreams: {}\n")
    (base / "component.yaml").write_text(f"name: {own}\n{ABOUT}")
    (base / "kustomization.yaml").write_text("resources: [all.yaml]\n")
    (overlay / "kustomization.yaml").write_text(f"resources: [../../../manifests/cluster/{own}]\n")
    (overlay.parent / "target.yaml").write_text(f"name: test\nsummary: x\nprofiles: {{core: [{own}]}}\n")
    write_objects(root, own, "test.modelyard.dev/none:1")
    return root


def write_objects(root: Path, own: str, image: str) -> None:
    group = f"{own}.example.test"
    objects = [namespace(own), config_map(own, "settings"), definition(group), thing(group, own, "x")]
    objects.append(deployment(own, "slow", image=image))
    file = root / "manifests/cluster" / own / "all.yaml"
    file.write_text("---\n".join(json.dumps(each) + "\n" for each in objects))


def start(root: Path, kubeconfig: Path) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "modelyard",
        "install",
        "--target",
        "test",
        "--force-target",  # the shared cluster is an embedded one
        "--kubeconfig",
        str(kubeconfig),
    ]
    environment = os.environ | {"MODELYARD_ROOT": str(root), "MODELYARD_EVENTS": str(root / "events")}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def wait_until_it_waits(process: subprocess.Popen[str], session: Session, own: str) -> None:
    """Watch until the installer has got as far as the Deployment."""
    wait_until_there(process, session, ObjectRef("apps", "Deployment", own, "slow"))


def wait_until_there(process: subprocess.Popen[str], session: Session, ref: ObjectRef) -> None:
    """Watch until the installer has made an object; with what it said where it does not come to that."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with Watcher(session, namespace=ref.namespace) as watcher:
        there = {each.ref for each in watcher.watch(ref.group_kind)}
        while ref not in there:
            seen = watcher.next(1)
            there = {seen.ref} if seen is not None else there
            if process.poll() is not None or time.monotonic() > deadline:
                ended = process.returncode
                process.kill()
                pytest.fail(f"the installer never came to {ref}; exit code {ended}: {process.communicate()[1]}")


MOMENTS: dict[str, Callable[[str], ObjectRef]] = {
    "inventory": lambda own: parent_ref(own),
    "namespace": lambda own: ObjectRef("", "Namespace", "", own),
    "definition": lambda own: ObjectRef(kinds.CRD.group, kinds.CRD.kind, "", f"things.{own}.example.test"),
    "workload": lambda own: ObjectRef("apps", "Deployment", own, "slow"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_after_kill_9_in_the_middle_the_next_install_converges(
    session: Session, cluster: ClusterInfo, catalogue: Path, own: str, shell: str, moment: str
) -> None:
    process = start(catalogue, cluster.kubeconfig)
    wait_until_there(process, session, MOMENTS[moment](own))
    process.kill()
    process.wait()
    half = read(session, own)
    assert half is not None
    assert not half.complete
    assert ObjectRef("apps", "Deployment", own, "slow") in half.objects  # what is there can be found again
    write_objects(catalogue, own, shell)
    again = start(catalogue, cluster.kubeconfig)
    out, err = again.communicate(timeout=240)
    assert again.returncode == 0, err
    assert "1 components ready" in out
    whole = read(session, own)
    assert whole is not None
    assert whole.complete


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(
    session: Session, cluster: ClusterInfo, catalogue: Path, own: str
) -> None:
    process = start(catalogue, cluster.kubeconfig)
    wait_until_it_waits(process, session, own)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=180)
    assert process.returncode == 130
    assert "the same command again goes on where it was" in err
    assert "Traceback" not in err


def read_until(stream: IO[str] | None, words: str) -> None:
    assert stream is not None
    seen = []
    for line in stream:
        seen.append(line)
        if words in line:
            return
    raise AssertionError(f"never said {words!r}: {''.join(seen)}")


def test_the_second_ctrl_c_stops_at_once(
    session: Session, relayed: Path, relay: Relay, catalogue: Path, own: str
) -> None:
    """The first must wait for a request that is under way; the second does not."""
    process = start(catalogue, relayed)
    try:
        wait_until_it_waits(process, session, own)
        read_until(process.stderr, "ImagePull")  # by now it looks at pods and logs every other second
        relay.hold()
        assert relay.holds.wait(60), "the installer asks for nothing"
        process.send_signal(signal.SIGINT)
        read_until(process.stderr, "once more")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=READ_SECONDS / 2)  # it would wait for an answer for READ_SECONDS
        assert process.returncode == 130
        assert "goes on where it was" not in err
        assert "Traceback" not in err
    finally:
        process.kill()
        process.communicate()
