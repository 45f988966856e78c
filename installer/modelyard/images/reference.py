"""An image reference, parsed as registries and container runtimes do.

Source of the grammar, and of what an unqualified name means: the `reference` package of distribution/reference
(`docker.io` and `library/` are filled in; a first part without a dot or a port is no registry, but `localhost`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

HOST_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
PORT = r":[0-9]{1,5}"
# What tells a registry from the first folder of a path: a dot, a port, or `localhost`.
REGISTRY = rf"(?:localhost(?:{PORT})?|{HOST_LABEL}(?:\.{HOST_LABEL})+(?:{PORT})?|{HOST_LABEL}{PORT})"
COMPONENT = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*"
TAG = r"[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}"
DIGEST = r"sha256:[0-9a-f]{64}"

_REFERENCE = re.compile(
    rf"(?:(?P<registry>{REGISTRY})/)?(?P<repository>{COMPONENT}(?:/{COMPONENT})*)"
    rf"(?::(?P<tag>{TAG}))?(?:@(?P<digest>{DIGEST}))?"
)
_REGISTRY = re.compile(REGISTRY)
_REPOSITORY = re.compile(rf"{COMPONENT}(?:/{COMPONENT})*")
_LONGEST_NAME = 255
_DEFAULT_REGISTRY = "docker.io"
_DEFAULT_FOLDER = "library"


@dataclass(frozen=True, slots=True, order=True)
class Reference:
    """An image.

    Args:
        registry: host, with its port if it has one ("quay.io", "127.0.0.1:5000").
        repository: path in it ("jetstack/cert-manager-webhook").
        tag: empty where none is given.
        digest: "sha256:..."; empty where none is given.
    """

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def name(self) -> str:
        """Return registry and repository: the image's key in upstream.lock."""
        return f"{self.registry}/{self.repository}"

    @property
    def familiar(self) -> str:
        """Return the name without what is filled in for docker.io: as upstreams often write it."""
        if self.registry != _DEFAULT_REGISTRY:
            return self.name
        return self.repository.removeprefix(f"{_DEFAULT_FOLDER}/")

    def __str__(self) -> str:
        return self.name + (f":{self.tag}" if self.tag else "") + (f"@{self.digest}" if self.digest else "")


def parse(text: str) -> Reference | None:
    """Return the image that all of `text` names, or None where it is not an image reference."""
    found = _REFERENCE.fullmatch(text)
    if found is None:
        return None
    registry, repository = found["registry"] or _DEFAULT_REGISTRY, found["repository"]
    if registry == _DEFAULT_REGISTRY and "/" not in repository:
        repository = f"{_DEFAULT_FOLDER}/{repository}"
    if len(registry) + 1 + len(repository) > _LONGEST_NAME:
        return None
    return Reference(registry, repository, found["tag"] or "", found["digest"] or "")


def is_qualified(text: str) -> bool:
    """Tell whether `text` begins with a registry, which no other kind of name does."""
    return "/" in text and is_registry(text.split("/", 1)[0])


def is_registry(text: str) -> bool:
    """Tell whether all of `text` is a registry's host, with or without a port."""
    return _REGISTRY.fullmatch(text) is not None


def is_repository(text: str) -> bool:
    """Tell whether all of `text` is a path in a registry."""
    return _REPOSITORY.fullmatch(text) is not None
