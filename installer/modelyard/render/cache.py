"""Rendered output by content hash: written atomically, checked on each read.

Two kinds of entry: a component's output (`<key>.yaml` as kustomize wrote it, `<key>.json` as objects),
and an index (`index-<key>.json`) from the fingerprint of a whole request to what it came to.
Only the standard library is imported: see fingerprint.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Index:
    """What a request came to.

    Args:
        keys: its components' keys; their order counts.
        pulled_in: components that came only because others require them, with those others.
    """

    keys: dict[str, str]
    pulled_in: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of rendered output. Any entry may be deleted at any time."""

    folder: Path

    def text(self, key: str) -> bytes | None:
        """Return a component's YAML, or None where it is not there or damaged."""
        return self._read(f"{key}.yaml")

    def objects(self, key: str) -> list[dict[str, object]] | None:
        """Return a component's objects, or None where they are not there or damaged."""
        content = self._read(f"{key}.json")
        return None if content is None else json.loads(content)

    def keep(self, key: str, text: bytes, objects: list[dict[str, object]]) -> None:
        """Keep a component's output in both forms."""
        self._write(f"{key}.yaml", text)
        self._write(f"{key}.json", json.dumps(objects, separators=(",", ":")).encode())

    def index(self, fingerprint: str) -> Index | None:
        """Return what a request seen before came to."""
        content = self._read(f"index-{fingerprint}.json")
        found = {} if content is None else json.loads(content)
        return Index(**found) if set(found) == {"keys", "pulled_in"} else None  # another version's is made anew

    def keep_index(self, fingerprint: str, index: Index) -> None:
        """Keep what a request came to."""
        self._write(f"index-{fingerprint}.json", json.dumps(asdict(index)).encode())

    def _read(self, name: str) -> bytes | None:
        try:
            content = (self.folder / name).read_bytes()
        except OSError:
            return None
        digest, _, body = content.partition(b"\n")
        return body if digest.decode("ascii", "replace") == hashlib.sha256(body).hexdigest() else None

    def _write(self, name: str, body: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".new-", dir=self.folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
            Path(temporary).replace(self.folder / name)
        except BaseException as error:
            Path(temporary).unlink(missing_ok=True)
            if isinstance(error, OSError):  # a write that failed does not say where
                error.filename = error.filename or str(self.folder)
            raise
