"""Idle connections are closed by the side that sends the requests: one that the other side closes may take one along.

Uvicorn, on which KServe's model servers run, closes a connection after 5 s without a request; so do other servers. A
request that is on its way just then is lost at the Gateway (502), as a POST is not sent a second time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from conformance.gateway.routes import NAMESPACE_LABEL, apply_route, entrance, host_of, rule
from conformance.support import adders, serving
from conformance.support.pods import container, pod_spec, wait_until_succeeded
from conformance.support.removal import Removal
from conformance.support.volumes import Volumes
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace, open_workspace
from modelyard.cluster import Session

pytestmark = pytest.mark.needs("traefik", "kserve")

PORT = 8080
SERVER_SECONDS = 5.0  # after which a server closes by uvicorn's default
PAUSE_SECONDS = 10
PATIENCE_SECONDS = 30

# Answers each request over the connection on which it came, and tells how long that was idle before the Gateway left.
_SERVER = """
import socket, time
listener = socket.create_server(("", 8080))
while True:
    connection, _ = listener.accept()
    with connection:
        while connection.recv(65536):
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
            answered = time.monotonic()
        print(f"idle for {time.monotonic() - answered:.2f} s", flush=True)
"""
_ASK_ONCE = """
import sys, time, urllib.request
request = urllib.request.Request(sys.argv[1], headers={"Host": sys.argv[2]})
for _ in range(240):
    try:
        urllib.request.urlopen(request, timeout=10).read()
        break
    except OSError as error:  # the route is not there yet
        last, _ = error, time.sleep(0.25)
else:
    sys.exit(f"no answer: {last}")
"""
_ASK_AGAIN = """
import http.client, json, sys, time
host, path, body, pause = sys.argv[1:]
connection = http.client.HTTPConnection(host, timeout=10)
for _ in range(240):
    try:
        connection.connect()
        break
    except ConnectionRefusedError as error:  # the service is ready, and this node's kube-proxy has yet to hear of it
        last, _ = error, time.sleep(0.25)
else:
    sys.exit(f"no connection: {last}")
first = connection.sock
for wait in (float(pause), 0):
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    print(answer.status, answer.read().decode(), flush=True)
    time.sleep(wait)
assert connection.sock is first, "it was another connection"
"""


@pytest.fixture
def workspace(session: Session, removal: Removal) -> Iterator[Workspace]:
    """A namespace whose routes the Gateway takes."""
    workspace = open_workspace(session, area="gateway", labels=NAMESPACE_LABEL)
    yield workspace
    removal.remove(workspace.ref)


def test_the_gateway_leaves_an_idle_connection_before_a_server_would(workspace: Workspace) -> None:
    """The server is one that never closes; what counts is when the Gateway does.

    Seen to fail without Traefik's idleconntimeout: the connection is still open after 30 s.
    """
    _start(workspace, "server", ["-c", _SERVER], labels={"app": "server"})
    ports = [{"port": 80, "targetPort": PORT}]
    spec = {"selector": {"app": "server"}, "ports": ports}
    workspace.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "server"}, "spec": spec})
    apply_route(workspace, "idle", rule("idle", [{"name": "server", "port": 80}]))
    _start(workspace, "client", ["-c", _ASK_ONCE, f"http://{entrance(workspace.session)}/", host_of(workspace, "idle")])
    wait_until_succeeded(workspace, "client")
    told = wait_for(
        "the Gateway closes the connection",
        lambda: re.findall(r"idle for ([\d.]+) s", workspace.logs("server")),
        seconds=PATIENCE_SECONDS,
    )
    assert all(float(seconds) < SERVER_SECONDS for seconds in told), told


def test_a_model_server_keeps_an_idle_connection(workspace: Workspace, volumes: Volumes) -> None:
    """Load balancers that are Gateways elsewhere keep theirs for minutes, and nobody can change it.

    Seen to fail with the server that KServe's package has, instead of ours: it closes the connection in the pause.
    """
    adders.write(workspace, volumes)
    workspace.apply(adders.service("v1"))
    serving.wait_until_ready(workspace, "v1")
    path, body = f"/v1/models/{adders.MODEL}:predict", json.dumps({"instances": [[adders.ASKED]]})
    _start(workspace, "client", ["-c", _ASK_AGAIN, "v1-predictor", path, body, str(PAUSE_SECONDS)])
    wait_until_succeeded(workspace, "client")
    said = workspace.logs("client").splitlines()
    assert said == [f'200 {{"predictions":[[{adders.ANSWERS["v1"]}]]}}'] * 2


def _start(workspace: Workspace, name: str, arguments: list[str], *, labels: dict[str, str] | None = None) -> None:
    """Start a pod that runs Python with these arguments."""
    runs = container(["python3", *arguments], image=adders.server_image())
    metadata = {"name": name, "labels": labels or {}}
    workspace.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_spec(runs)})
