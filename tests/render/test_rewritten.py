"""Rendered output with its images rewritten: the objects and the text say the same, and all else stays."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from modelyard.catalog import Catalog, ImagePin, load
from modelyard.images import Mirror, Rewriting
from modelyard.paths import data_root
from modelyard.render.cache import Cache
from modelyard.render.documents import dump, parse
from modelyard.render.render import Tools
from modelyard.render.rewritten import rewriting_for, rewritten

SHA = "sha256:" + "5" * 64
PLAIN = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a} # as it was\n"
SETTINGS = b"""\
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
data:
  agent: |-
    # kept
    image: quay.io/x/agent:v1
  day: "2026-01-01"
"""
LIST = b"""\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, image: 'quay.io/x/a:v1'}
- {apiVersion: v1, kind: Pod}
"""
MIRROR = Rewriting(mirror=Mirror("reg.test", "p"))


def test_text_and_objects_say_the_same_and_other_documents_stay(rendered_cache: Cache) -> None:
    text = PLAIN + b"---\n" + SETTINGS
    rendered_cache.keep("key", text, parse(text, shown="x"))
    key = rewritten(rendered_cache, "key", MIRROR, (), shown="x")
    after = rendered_cache.text(key)
    assert after is not None and after.startswith(PLAIN + b"---\n")
    assert after == text.replace(b"quay.io/x/agent", b"reg.test/p/quay.io/x/agent").replace(
        b'"2026-01-01"', b"'2026-01-01'"
    )
    assert parse(after, shown="x") == rendered_cache.objects(key)


def test_a_list_is_written_as_its_objects(rendered_cache: Cache) -> None:
    text = LIST
    rendered_cache.keep("key", text, parse(text, shown="x"))
    key = rewritten(rendered_cache, "key", MIRROR, (), shown="x")
    after = rendered_cache.text(key)
    assert after is not None
    assert parse(after, shown="x") == rendered_cache.objects(key)
    assert after.count(b"kind: Pod") == 2


def test_each_rewriting_is_kept_for_itself(rendered_cache: Cache) -> None:
    rendered_cache.keep("key", SETTINGS, parse(SETTINGS, shown="x"))
    others = [MIRROR, Rewriting(mirror=Mirror("reg.test", "q")), Rewriting({"quay.io/x/agent": ("v1", SHA)})]
    keys = [rewritten(rendered_cache, "key", each, (), shown="x") for each in others]
    assert len({"key", *keys}) == 4
    assert keys == [rewritten(rendered_cache, "key", each, (), shown="x") for each in others]


@pytest.mark.parametrize("value", ["2026-01-01", "1.20", "true", "a\nb\n", "", " x", "é"])
def test_what_is_written_is_read_back(value: str) -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": value}}
    assert parse(dump(obj), shown="x") == [obj]


def _with_digest(catalog: Catalog) -> Catalog:
    images = {name: ImagePin(tag=pin.tag, digest=SHA) for name, pin in catalog.lock.images.items()}
    lock = catalog.lock.model_copy(update={"images": images})
    return Catalog(root=catalog.root, components=catalog.components, targets=catalog.targets, lock=lock)


def test_digests_are_used_wherever_images_are_pulled() -> None:
    catalog = load(data_root())
    assert not rewriting_for(catalog, "kind") or catalog.pins
    resolved = _with_digest(catalog)
    for target in resolved.targets:
        assert bool(rewriting_for(resolved, target)) is (target != "local")


def test_kustomize_reads_what_is_written(rendered_cache: Cache, tools: Tools, tmp_path: Path) -> None:
    """Another YAML reader than ours finds the same."""
    rendered_cache.keep("key", SETTINGS, parse(SETTINGS, shown="x"))
    text = rendered_cache.text(rewritten(rendered_cache, "key", MIRROR, (), shown="x"))
    assert text is not None
    (tmp_path / "b.yaml").write_bytes(text)
    (tmp_path / "kustomization.yaml").write_text("resources: [b.yaml]\n")
    command = [str(tools.kustomize()), "build", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert parse(done.stdout, shown="x") == parse(text, shown="x")
