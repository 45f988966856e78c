"""A component's rendered output with its images rewritten, kept like the output itself."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from modelyard.catalog import Catalog
from modelyard.errors import RenderError
from modelyard.images import Mirror, Rewriting
from modelyard.objects import Object
from modelyard.render.cache import Cache
from modelyard.render.documents import dump

EMBEDDED = "local"
_BREAK = b"\n---\n"


def rewritten(cache: Cache, key: str, rewriting: Rewriting, declared: Collection[str], *, shown: str) -> str:
    """Return the cache key of the output at `key` with every image rewritten.

    Args:
        cache: rendered output; `key` is in it.
        key: of what kustomize made.
        rewriting: what to do with the images.
        declared: image names that component.yaml files declare.
        shown: the component for people.

    Raises:
        RenderError: the entry vanished while it was read.
    """
    parts = (key, rewriting.key, *sorted(declared))
    new_key = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    if cache.text(new_key) is not None and cache.objects(new_key) is not None:
        return new_key
    text, objects = cache.text(key), cache.objects(key)
    if text is None or objects is None:
        raise RenderError(shown, "its cache entry vanished while it was read", "run it again")
    after = rewriting.apply(objects, declared)
    cache.keep(new_key, _text(text, objects, after), [dict(obj) for obj in after])
    return new_key


def _text(text: bytes, before: list[dict[str, object]], after: list[Object]) -> bytes:
    """Return `text` with the documents that changed written anew; the others stay byte for byte."""
    documents = text.rstrip(b"\n").split(_BREAK)
    if len(documents) != len(before):  # a List: its objects have no documents of their own
        return _BREAK.join(dump(obj).rstrip(b"\n") for obj in after) + b"\n"
    written = [
        document if new is old else dump(new).rstrip(b"\n")
        for document, old, new in zip(documents, before, after, strict=True)
    ]
    return _BREAK.join(written) + b"\n"


def rewriting_for(catalog: Catalog, target: str, mirror: Mirror | None = None) -> Rewriting:
    """Return how a target's images are rewritten: pinned to the digests that upstream.lock has, and mirrored.

    Digests are left out where nothing is pulled: the embedded cluster builds its images, under upstream's names,
    and what it builds has another digest than upstream's.
    """
    return Rewriting({} if catalog.base(target) == EMBEDDED else catalog.pins, mirror)
