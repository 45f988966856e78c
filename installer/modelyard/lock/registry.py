"""A manifest's digest from a registry, over the registry's HTTP API.

Source: the OCI distribution specification ("Checking if content exists in the registry"), and for registries that
want a token even for public images, the token authentication that distribution documents and its clients share.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

from modelyard.errors import SourceError
from modelyard.images import Reference
from modelyard.web import Answer, ask

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
        answer = _ask(url, "HEAD", image)
        digest = answer.headers.get("Docker-Content-Digest", "")
        if not digest:  # optional for HEAD: what a GET sends is what is hashed
            digest = f"sha256:{hashlib.sha256(_ask(url, 'GET', image).body).hexdigest()}"
    except SourceError as error:
        raise _failure(image, f"registry {image.registry} {error.cause}") from error
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


def _ask(url: str, method: str, image: Reference) -> Answer:
    """Ask once; where the registry wants a token, get one as nobody in particular, and ask again."""
    answer = _reached(method, url, {"Accept": _ACCEPT})
    challenge = answer.headers.get("WWW-Authenticate", "")
    if answer.status == 401 and challenge.lower().startswith("bearer "):
        answer = _reached(method, url, {"Accept": _ACCEPT, "Authorization": f"Bearer {_token(challenge)}"})
    if answer.status == 404:
        raise SourceError(f"image {image}", "has no such image")
    return _good(answer)


def _token(challenge: str) -> str:
    fields = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    realm = fields.pop("realm", "")
    if urlsplit(realm).scheme not in ("http", "https"):
        raise SourceError("token", f"wants a token from {realm or 'nowhere'}")
    query = urlencode({key: value for key, value in fields.items() if key in ("service", "scope")})
    answer = _good(_reached("GET", f"{realm}?{query}", {}))
    try:
        document = json.loads(answer.body)
    except ValueError as error:
        raise SourceError("token", f"has a token service that sends no JSON: {error}") from error
    granted = document if isinstance(document, dict) else {}
    return str(granted.get("token") or granted.get("access_token") or "")


def _reached(method: str, url: str, headers: Mapping[str, str]) -> Answer:
    try:
        return ask(method, url, headers)
    except SourceError as error:
        raise SourceError(error.subject, f"cannot be reached: {error.cause}") from error


def _good(answer: Answer) -> Answer:
    if answer.status != 200:
        raise SourceError("answer", f"answered {answer.status} {answer.reason}")
    return answer
