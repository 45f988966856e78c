"""Rewriting: all images or none, each once; and what is no mirror's name."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from image_strategies import digests, mirrors, references, tags

from modelyard.errors import CatalogError
from modelyard.images import Mirror, Reference, Rewriting, find, mirror_named
from modelyard.objects import Object

SHA = "sha256:" + "cd" * 32


def _as_field(image: str) -> Object:
    return {"spec": {"containers": [{"name": "a", "image": image}]}}


def _as_argument(image: str) -> Object:
    return {"spec": {"args": [f"--agent-image={image}", "--v=2"]}}


def _as_variable(image: str) -> Object:
    return {"spec": {"env": [{"name": "AGENT_IMAGE", "value": image}]}}


def _as_json(image: str) -> Object:
    return {"data": {"agent": json.dumps({"image": image, "memory": "1Gi"}, indent=2)}}


def _as_yaml(image: str) -> Object:
    return {"data": {"c.yaml": f"# kept\nagent:\n  image: '{image}'  # kept too\n"}}


def _as_parts(image: str) -> Object:
    folder, _, last = image.rpartition("/")
    name, _, version = last.partition(":")
    return {"spec": {"driver": {"repository": folder, "image": name, "version": version}}}


KINDS = st.sampled_from([_as_field, _as_argument, _as_variable, _as_json, _as_yaml])
OBJECTS = st.lists(st.builds(lambda build, image: build(str(image)), KINDS, references), min_size=1, max_size=5)


@given(OBJECTS, mirrors)
def test_after_a_rewrite_every_image_is_the_mirrors_and_a_second_one_changes_nothing(
    objects: list[Object], mirror: Mirror
) -> None:
    rewriting = Rewriting(mirror=mirror)
    once = rewriting.apply(objects, ())
    assert [each.place for each in find(once)] == [each.place for each in find(objects)]
    assert all(f"{each.reference.name}/".startswith(f"{mirror}/") for each in find(once))
    assert rewriting.apply(once, ()) == once


@given(OBJECTS, st.dictionaries(references.map(lambda r: r.name), st.tuples(tags, digests), max_size=3), mirrors)
def test_digests_and_mirror_together_change_nothing_the_second_time(
    objects: list[Object], pins: dict[str, tuple[str, str]], mirror: Mirror
) -> None:
    pins |= {each.reference.name: (each.reference.tag, SHA) for each in find(objects)}
    for rewriting in (Rewriting(pins), Rewriting(pins, mirror)):
        once = rewriting.apply(objects, ())
        for old, new in zip(find(objects), find(once), strict=True):
            tag, digest = pins[old.reference.name]
            pinned = digest if tag == old.reference.tag else ""
            assert new.reference.digest == (old.reference.digest or pinned)
        assert rewriting.apply(once, ()) == once


@given(references, references, mirrors)
def test_two_images_have_two_copies(one: Reference, other: Reference, mirror: Mirror) -> None:
    named_like_a_port = "_" in one.repository + other.repository
    if one.name != other.name and not named_like_a_port and str(mirror) not in (one.registry, other.registry):
        inside = [f"{each.name}/".startswith(f"{mirror}/") for each in (one, other)]
        assert any(inside) or mirror.of(one).name != mirror.of(other).name


def test_text_around_an_image_stays_as_it_was() -> None:
    [after] = Rewriting(mirror=Mirror("reg.test", "p")).apply([_as_yaml("kserve/agent:v1")], ())
    assert after["data"] == {"c.yaml": "# kept\nagent:\n  image: 'reg.test/p/docker.io/kserve/agent:v1'  # kept too\n"}


def test_image_in_parts_stays_in_parts() -> None:
    pins = {"nvcr.io/nvidia/driver": ("570", SHA)}
    [after] = Rewriting(pins, Mirror("reg.test")).apply([_as_parts("nvcr.io/nvidia/driver:570")], ())
    assert after == {
        "spec": {"driver": {"repository": "reg.test/nvcr.io/nvidia", "image": "driver", "version": f"570@{SHA}"}}
    }
    assert [str(each.reference) for each in find([_as_parts("nvcr.io/nvidia/driver:570")])] == [
        "nvcr.io/nvidia/driver:570"
    ]


def test_digest_of_another_tag_is_not_added() -> None:
    objects = [_as_field("quay.io/x/op:v2")]
    assert Rewriting({"quay.io/x/op": ("v1", SHA)}).apply(objects, ()) == objects


def test_object_without_an_image_is_the_same_instance() -> None:
    [plain] = yaml.safe_load_all("kind: ConfigMap\ndata: {a: b}")
    assert Rewriting(mirror=Mirror("reg.test")).apply([plain], ())[0] is plain


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("registry.example.com", "registry.example.com"),
        ("registry.example.com:5000/a/b", "registry.example.com:5000/a/b"),
        ("localhost:5000", "localhost:5000"),
        ("127.0.0.1:5000/p", "127.0.0.1:5000/p"),
    ],
)
def test_mirrors_name_is_a_host_and_perhaps_a_folder(name: str, text: str) -> None:
    assert str(mirror_named(name)) == text


@pytest.mark.parametrize(
    "name",
    [
        "",
        "registry",
        "https://registry.example.com",
        "registry.example.com/",
        "registry.example.com/A",
        "registry.example.com//a",
        "registry.example.com/a:v1",
        "registry.example.com:port",
        "a b.com",
        "-x.com",
        "registry.example.com/a@b",
    ],
)
def test_what_is_no_mirrors_name_is_refused(name: str) -> None:
    with pytest.raises(CatalogError, match="is not a valid name of a mirror"):
        mirror_named(name)
