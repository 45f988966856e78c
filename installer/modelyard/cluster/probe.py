"""Does something answer behind a Service? Asked through the apiserver's own service proxy."""

from __future__ import annotations

import json

from modelyard.cluster.session import Session
from modelyard.objects import Object, text
from modelyard.plan.hooks import Endpoint

READ_SECONDS = 10.0


def reach_service(session: Session, endpoint: Endpoint, path: str) -> str:
    """Return why the server behind `endpoint` does not answer; an empty string once it does.

    Args:
        session: the cluster.
        endpoint: a Service and its port, spoken to over TLS.
        path: the request path; any answer of the server itself counts.
    """
    proxied = f"https:{endpoint.service}:{endpoint.port}"
    answer = session.transport.send(
        "POST",
        f"/api/v1/namespaces/{endpoint.namespace}/services/{proxied}/proxy/{path.lstrip('/')}",
        body={},
        accept="*/*",
        read_seconds=READ_SECONDS,
    )
    status = _status(answer.body)
    # The apiserver says these itself; whatever else comes, the server said.
    if answer.code in (502, 503, 504) and text(status, "kind") == "Status":
        return text(status, "message") or f"HTTP {answer.code}"
    if answer.code == 404 and text(status, "kind") == "Status" and text(status, "details", "kind") == "services":
        return text(status, "message")
    return ""


def _status(body: bytes) -> Object:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
