"""A manifest's digest from a registry, over the registry's HTTP API.

Source: the OCI distribution specification ("Checking if content exists in the registry"), and for registries that
want a token even for public images, the token authentication that distribution documents and its clients share.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from email.message import Message
from urllib.parse import urlencode, urlsplit

from modelyard.errors import SourceError
from modelyard.images import Reference

TIMEOUT_SECONDS = 30
# Indexes first: the digest is to be that of all platforms, where there is one.
_ACCEPT = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# docker.io is a name only: its registry has another host.
_HOSTS = {"docker.io": "registry-1.docker.io"}


def manifest_digest(image: Reference) -> str:
    """Return the digest of what `image`'s tag names.

    Registries on this machine are spoken to by http, all others by https, as container runtimes do.

    Raises:
        SourceError: the registry cannot be reached, has no such image, or refuses.
    """
    url = f"{_base(image.registry)}/v2/{image.repository}/manifests/{image.tag or image.digest}"
    try:
        headers, body = _ask(url, "HEAD", {})
        digest = headers.get("Docker-Content-Digest", "")
        if not digest:  # optional for HEAD: what a GET sends is what is hashed
            _, body = _ask(url, "GET", {})
            digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
    except urllib.error.HTTPError as error:
        cause = "has no such image" if error.code == 404 else f"answered {error.code} {error.reason}"
        raise _failure(image, f"registry {image.registry} {cause}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise _failure(image, f"registry {image.registry} cannot be reached: {reason}") from error
    if not _DIGEST.fullmatch(digest):
        raise _failure(image, f"registry {image.registry} gave {digest!r} for a digest")
    return digest


def _failure(image: Reference, cause: str) -> SourceError:
    return SourceError(
        f"image {image}", cause, "check the registry's name and the network, then run the same command again"
    )


def _base(registry: str) -> str:
    host = registry.rpartition(":")[0] if registry.rpartition(":")[2].isdigit() else registry
    scheme = "http" if host in ("localhost", "127.0.0.1") else "https"
    return f"{scheme}://{_HOSTS.get(registry, registry)}"


def _ask(url: str, method: str, headers: Mapping[str, str]) -> tuple[Message, bytes]:
    """Ask once; where the registry wants a token, get one as nobody in particular, and ask again."""
    request = urllib.request.Request(url, method=method, headers={"Accept": _ACCEPT, **headers})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        challenge = error.headers.get("WWW-Authenticate", "")
        if error.code != 401 or headers or not challenge.lower().startswith("bearer "):
            raise
        return _ask(url, method, {"Authorization": f"Bearer {_token(challenge)}"})


def _token(challenge: str) -> str:
    fields = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    realm = fields.pop("realm", "")
    if urlsplit(realm).scheme not in ("http", "https"):
        raise ValueError(f"it wants a token from {realm or 'nowhere'}")
    query = urlencode({key: value for key, value in fields.items() if key in ("service", "scope")})
    with urllib.request.urlopen(f"{realm}?{query}", timeout=TIMEOUT_SECONDS) as answer:
        document = json.loads(answer.read())
    return str(document.get("token") or document.get("access_token") or "")
