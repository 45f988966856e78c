"""Where an apiserver is, and how requests to it are authenticated: a kubeconfig, read."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import urllib3

from modelyard.memory_files import memory_file

CONNECTIONS = 32
# All that a kubeconfig of certificates alone may say; anything more is for the official client.
_CLUSTER = {"server", "certificate-authority-data"}
_USER = {"client-certificate-data", "client-key-data"}
Headers = dict[str, str]
Parameters = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An apiserver and its connections.

    Args:
        server: its URL.
        pool: connections to it.
        authorize: adds to a request's headers and parameters what authenticates it; OSError where that cannot be had.
    """

    server: str
    pool: urllib3.PoolManager
    authorize: Callable[[Headers, Parameters], None]


def of_certificates(kubeconfig: Path) -> Endpoint | None:
    """Return the endpoint of a kubeconfig that holds one cluster and certificates alone; None for any other.

    Such are those of embedded clusters. Importing the official client, which reads all others, takes longer than most
    requests to such a cluster.
    """
    try:
        document = json.loads(kubeconfig.read_text(encoding="utf-8"))
        ((cluster,), (user,), (context,)) = (document[name] for name in ("clusters", "users", "contexts"))
        about, who = cluster["cluster"], user["user"]
        whole = set(about) == _CLUSTER and set(who) == _USER and document["current-context"] == context["name"]
        if not whole or context["context"] != {"cluster": cluster["name"], "user": user["name"]}:
            return None
        authority = _file(about, "certificate-authority-data")
        certificate, key = (_file(who, name) for name in ("client-certificate-data", "client-key-data"))
    except (ValueError, TypeError, KeyError, binascii.Error):
        return None
    pool = urllib3.PoolManager(
        maxsize=CONNECTIONS, cert_reqs="CERT_REQUIRED", ca_certs=authority, cert_file=certificate, key_file=key
    )
    return Endpoint(str(about["server"]), pool, _already)


def _file(mapping: Mapping[str, str], name: str) -> str:
    return memory_file(base64.b64decode(mapping[name], validate=True))


def _already(headers: Headers, parameters: Parameters) -> None:
    """Add nothing: the connection's certificate authenticates every request."""
