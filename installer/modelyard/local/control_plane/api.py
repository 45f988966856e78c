"""A small client of the cluster's apiserver, for `up` and `status`.

The official client takes most of a second to import, which is a fifth of the time a node may need to be
Ready; here a handful of requests do.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from modelyard.errors import LocalClusterError
from modelyard.memory_files import memory_file

FIELD_MANAGER = "modelyard-local"


class Api:
    """Requests to the apiserver behind a kubeconfig that `up` wrote.

    Args:
        kubeconfig: its path.
        timeout: seconds for each request.

    Raises:
        LocalClusterError: the kubeconfig is not one of `up`'s.
    """

    def __init__(self, kubeconfig: Path, *, timeout: float = 5.0) -> None:
        try:
            document = json.loads(kubeconfig.read_text())
            cluster = document["clusters"][0]["cluster"]
            user = document["users"][0]["user"]
            self._context = _tls(cluster["certificate-authority-data"], user)
            self._address = urlsplit(cluster["server"])
        except (OSError, ValueError, KeyError, IndexError) as error:
            raise LocalClusterError(
                f"kubeconfig {kubeconfig}", f"it cannot be read ({error})", "modelyard local up"
            ) from error
        self._timeout = timeout
        self._connection: http.client.HTTPSConnection | None = None

    def get(self, path: str) -> tuple[int, str]:
        """Return status and body of GET `path`.

        Raises:
            OSError: nothing answered.
        """
        return self._request("GET", path, None, {})

    def get_json(self, path: str) -> dict[str, object]:
        """Return the object at `path`.

        Raises:
            OSError: nothing answered, or not with an object.
        """
        status, body = self.get(path)
        if status != 200:
            raise OSError(f"GET {path}: HTTP {status}")
        value = json.loads(body)
        if not isinstance(value, dict):
            raise OSError(f"GET {path}: no object")
        return value

    def apply(self, path: str, body: Mapping[str, object]) -> None:
        """Apply an object on the server's side, taking over fields of other managers.

        Raises:
            OSError: nothing answered, or the apiserver refused.
        """
        self._write("PATCH", f"{path}?fieldManager={FIELD_MANAGER}&force=true", body, "application/apply-patch+yaml")

    def delete(self, path: str) -> None:
        """Delete the object at `path`, which may be gone.

        Raises:
            OSError: nothing answered, or the apiserver refused.
        """
        status, text = self._request("DELETE", path, None, {})
        if status not in (200, 202, 404):
            raise OSError(f"DELETE {path}: HTTP {status}: {text[:300]}")

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _write(self, verb: str, path: str, body: Mapping[str, object], kind: str) -> None:
        status, text = self._request(verb, path, json.dumps(body).encode(), {"Content-Type": kind})
        if status not in (200, 201):
            raise OSError(f"{verb} {path}: HTTP {status}: {text[:300]}")

    def _request(self, verb: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> tuple[int, str]:
        if self._connection is None:
            self._connection = http.client.HTTPSConnection(
                self._address.hostname or "127.0.0.1",
                self._address.port,
                timeout=self._timeout,
                context=self._context,
            )
        try:
            self._connection.request(verb, path, body, dict(headers))
            answer = self._connection.getresponse()
            return answer.status, answer.read().decode(errors="replace")
        except http.client.HTTPException as error:
            self.close()
            raise OSError(f"{verb} {path}: {error!r}") from error
        except OSError:
            self.close()
            raise


def _tls(authority: str, user: Mapping[str, str]) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=base64.b64decode(authority).decode())
    pair = base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"])
    context.load_cert_chain(memory_file(pair))
    return context
