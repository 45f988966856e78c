"""No image escapes: a second, cruder look at every string of every target finds nothing that `images` does not have.

It knows nothing of fields and objects: any text with a host, a path and a tag or digest counts, but for schemas' prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from remembering import once_an_object

from modelyard.catalog import Catalog, load
from modelyard.images import Mirror, Rewriting, find, parse
from modelyard.objects import Object
from modelyard.paths import data_root

TARGETS = sorted(path.parent.name for path in (Path(__file__).parents[2] / "overlays").glob("*/target.yaml"))
SAMPLE = ("local", "openshift")  # of `make test`; the rest is left to `make test-full`
SAMPLED = [target if target in SAMPLE else pytest.param(target, marks=pytest.mark.long) for target in TARGETS]
Render = Callable[[str], Mapping[str, list[Object]]]
OFFERED = [(target, name) for target in TARGETS for name in load(data_root()).offered(target)]

LOOKS_LIKE_ONE = re.compile(
    r"(?<![\w./:-])(?:[a-zA-Z0-9-]+\.[a-zA-Z0-9.-]+|localhost)(?::\d+)?(?:/[a-z0-9._-]+)+"
    r"(?::[a-zA-Z0-9_][\w.-]*\w|@sha256:[0-9a-f]{64})"
)
NAMED = re.compile(r"image[\"']?\s*[:=]\s*[\"']?((?:[\w.-]+:\d+/)?[\w./-]+[:@][\w.:-]+)", re.IGNORECASE)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            if key == "image" and isinstance(inner, str):
                yield f"image: {inner}"
            if not (key == "description" and isinstance(inner, str)):
                yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str):
        yield value


def _looks(objects: list[Object]) -> set[str]:
    """Return what looks like an image, in full."""
    return {look for obj in objects for look in _looks_of(obj)}


@once_an_object
def _looks_of(obj: Object) -> frozenset[str]:
    found = set()
    for string in set(_strings(obj)):
        found |= {match[0] for match in LOOKS_LIKE_ONE.finditer(string)}
        found |= {match[1] for match in NAMED.finditer(string)}
    return frozenset(str(parse(each) or each) for each in found)


@pytest.mark.parametrize("target", SAMPLED)
def test_no_image_escapes(target: str, render: Render, catalog: Catalog) -> None:
    objects = [obj for listed in render(target).values() for obj in listed]
    looks = _looks(objects)
    assert looks
    assert looks - {str(each.reference) for each in find(objects, catalog.image_names)} == set()


@pytest.mark.parametrize("target", SAMPLED)
def test_no_image_of_another_registry_is_left_after_a_rewrite(target: str, render: Render, catalog: Catalog) -> None:
    mirror = Mirror("registry.test:5000", "platform")
    for objects in render(target).values():
        after = Rewriting(mirror=mirror).apply(objects, catalog.image_names)
        assert {each for each in _looks(after) if not each.startswith(f"{mirror}/")} == set()
        assert len(_looks(after)) == len(_looks(objects))


@pytest.mark.parametrize(("target", "name"), [pytest.param(*pair, marks=pytest.mark.long) for pair in OFFERED])
def test_no_image_of_what_is_offered_escapes(
    target: str, name: str, offered: Callable[[str, str], list[Object]], catalog: Catalog
) -> None:
    objects, mirror = offered(target, name), Mirror("registry.test:5000", "platform")
    looks, after = _looks(objects), _looks(Rewriting(mirror=mirror).apply(objects, catalog.image_names))
    assert looks - {str(each.reference) for each in find(objects, catalog.image_names)} == set()
    assert [each for each in after if not each.startswith(f"{mirror}/")] == []
    assert len(after) == len(looks)


@pytest.mark.parametrize("target", SAMPLED)
def test_every_image_that_is_only_hidden_has_its_place(target: str, render: Render) -> None:
    """The hidden ones are really among them: KServe's sidecars are named in a ConfigMap only."""
    found = find(render(target)["kserve"])
    places = [each.place for each in found if each.reference.name == "docker.io/kserve/agent"]
    assert {(place.object.kind, place.path.partition(":")[0]) for place in places} == {
        ("ConfigMap", f"data.{key}") for key in ("agent", "batcher", "logger")
    }
