"""A backend behind the Gateway that fails, and a client that asks it again and again."""

from __future__ import annotations

from conformance.gateway.routes import NAMESPACE_LABEL, apply_route, entrance, host_of
from conformance.support.pods import container, pod_spec
from conformance.support.workspace import Workspace
from modelyard.objects import Object

__all__ = ["NAMESPACE_LABEL", "cause"]

NAME = "failing"
SERVER = """
import http.server
class Failing(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(500)
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("", 8080), Failing).serve_forever()
"""
CLIENT = """
import sys, time, urllib.error, urllib.request
request = urllib.request.Request(f"http://{sys.argv[1]}/", headers={"Host": sys.argv[2]})
while True:
    try:
        urllib.request.urlopen(request, timeout=5).close()
    except OSError:  # what it answers is counted at the Gateway
        pass
    time.sleep(0.5)
"""


def cause(workspace: Workspace) -> dict[str, str]:
    """Cause it, and return the labels of its alert; `service` begins with what is there.

    Args:
        workspace: with NAMESPACE_LABEL.
    """
    workspace.create(_pod(NAME, SERVER))
    ports = [{"port": 80, "targetPort": 8080}]
    service = {"selector": {"app": NAME}, "ports": ports}
    workspace.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": NAME}, "spec": service})
    apply_route(workspace, NAME, {"backendRefs": [{"name": NAME, "port": 80}]})
    workspace.create(_pod("asking", CLIENT, entrance(workspace.session), host_of(workspace, NAME)))
    return {"alertname": "GatewayErrors", "service": f"{workspace.name}-{NAME}-"}


def _pod(name: str, program: str, *arguments: str) -> Object:
    spec = pod_spec(container(["python3", "-c", program, *arguments]))
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}}, "spec": spec}
