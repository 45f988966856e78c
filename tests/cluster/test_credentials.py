"""No private key is written to a disk, however a command ends.

A server that demands the client's certificate shows that the key was used; $TMPDIR, that it was not left. It is looked
at while the command still runs, since none of its ends may matter, and after each of them.
"""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from modelyard.local.state.identities import make_identities
from modelyard.local.state.layout import Layout

_COMMAND = """
import os, signal, sys
from pathlib import Path
{connect}
print("connected", os.listdir(os.environ["TMPDIR"]), flush=True)
end = sys.argv[2]
if end == "_exit":
    os._exit(3)
if end == "exception":
    raise RuntimeError
os.kill(os.getpid(), getattr(signal, end))
"""
_CLIENTS = {
    "session": "from modelyard.cluster import connect; connect(Path(sys.argv[1]))",
    # With a context named it is the official client that reads the kubeconfig.
    "official": "import json; from modelyard.cluster import connect; path = Path(sys.argv[1]); "
    "connect(path, json.loads(path.read_text())['current-context'])",
    "up": "from modelyard.local.control_plane.api import Api; Api(Path(sys.argv[1])).get_json('/version')",
}


class _Version(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"major": "1", "minor": "35", "gitVersion": "v1.35.4"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A kubeconfig with its keys embedded, and a server that takes no other client."""
    where = Layout(tmp_path_factory.mktemp("cluster"))
    where.config.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Version)
    make_identities(where, [], server.server_port)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_verify_locations(where.pki / "ca.crt")
    tls.load_cert_chain(where.pki / "apiserver.crt", where.pki / "apiserver.key")
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield where.kubeconfig
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("client", sorted(_CLIENTS))
@pytest.mark.parametrize(("end", "code"), [("_exit", 3), ("exception", 1), ("SIGTERM", -15), ("SIGKILL", -9)])
def test_key_is_on_no_disk_whatever_way_a_command_ends(
    kubeconfig: Path, tmp_path: Path, client: str, end: str, code: int
) -> None:
    done = run(kubeconfig, tmp_path, client, end)
    assert done.stdout == "connected []\n", done.stderr
    assert done.returncode == code
    assert list(tmp_path.iterdir()) == []


def run(kubeconfig: Path, scratch: Path, client: str, end: str) -> subprocess.CompletedProcess[str]:
    program = _COMMAND.replace("{connect}", _CLIENTS[client])
    command = [sys.executable, "-P", "-c", program, kubeconfig, end]
    environment = os.environ | {"TMPDIR": str(scratch)}
    return subprocess.run(command, env=environment, text=True, capture_output=True, check=False, timeout=60)
