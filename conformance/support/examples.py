"""The examples that users copy, as objects: the tests run these and no others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml

from conformance.support.workspace import Workspace
from modelyard.objects import Object, labels_of, mappings, sequence, text
from modelyard.paths import data_root


def example(name: str) -> list[dict[str, object]]:
    """Return the objects of examples/<name>, as its kustomization makes them, without namespaces and claims.

    Claims are left out because a test's volume is its own: `volumes.claim` makes one of the same name.
    """
    folder = data_root() / "examples" / name
    recipe = yaml.safe_load((folder / "kustomization.yaml").read_text())
    found = [*_config_maps(folder, recipe), *_resources(folder, recipe)]
    return [each for each in found if text(each, "kind") != "PersistentVolumeClaim"]


def create_example(workspace: Workspace, name: str, labels: dict[str, str], **changes: Object) -> None:
    """Create an example's objects in a workspace.

    Args:
        workspace: where.
        name: a folder of examples/.
        labels: put on those objects that name a queue, in place of the queue's name.
        changes: by kind: fields that are merged into the object.
    """
    for obj in example(name):
        kind = text(obj, "kind")
        changed = merged(obj, changes.get(kind, {}))
        if labels_of(changed):
            changed = {**changed, "metadata": {"name": text(obj, "metadata", "name"), "labels": labels}}
        else:
            changed = {**changed, "metadata": {"name": text(obj, "metadata", "name")}}
        workspace.create(changed)


def merged(base: Object, change: Object) -> dict[str, object]:
    """Return `base` with the fields of `change` in it, mappings into mappings."""
    result = dict(base)
    for key, value in change.items():
        mine = result.get(key)
        result[key] = merged(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return result


def _config_maps(folder: Path, recipe: Object) -> Iterator[dict[str, object]]:
    for generator in mappings(recipe, "configMapGenerator"):
        data = {str(name): (folder / str(name)).read_text() for name in sequence(generator, "files")}
        metadata = {"name": text(generator, "name")}
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _resources(folder: Path, recipe: Object) -> Iterator[dict[str, object]]:
    for name in sequence(recipe, "resources"):
        yield from (each for each in yaml.safe_load_all((folder / str(name)).read_text()) if each)
