"""YAML streams to plain JSON objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import yaml

from modelyard.catalog.yaml_file import Loader
from modelyard.errors import RenderError

_BaseDumper: type[yaml.SafeDumper] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_BaseDumper):  # type: ignore[valid-type, misc]  # chosen at import: the C dumper where there is one
    """A text of several lines stays one, as kustomize writes it."""


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _represent_text)


def dump(obj: object) -> bytes:
    """Return one object as a YAML document."""
    content = yaml.dump(obj, Dumper=_Dumper, default_flow_style=False, sort_keys=False, allow_unicode=True, width=4096)
    return content.encode()


def parse(content: bytes, *, shown: str) -> list[dict[str, object]]:
    """Return the objects of a YAML stream, with Lists taken apart.

    Raises:
        RenderError: it is not valid YAML, or one of the documents is no Kubernetes object.
    """
    try:
        with _collector_paused():
            documents = list(yaml.load_all(content, Loader=Loader))
    except (yaml.YAMLError, ValueError) as error:
        raise RenderError(shown, f"the output is not valid YAML: {error}") from error
    return [obj for document in documents if document is not None for obj in _objects(document, shown)]


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Parsing makes many objects and no cycles: Python's collector would only walk them, a third of the time."""
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def _objects(document: object, shown: str) -> list[dict[str, object]]:
    if not isinstance(document, dict) or not document.get("kind") or not document.get("apiVersion"):
        raise RenderError(shown, f"the output holds something that is not an object: {str(document)[:80]!r}")
    items = document.get("items")
    if str(document["kind"]).endswith("List") and isinstance(items, list):
        return [obj for item in items for obj in _objects(item, shown)]
    return [document]
