"""References: what is one, what an unqualified one means, and that writing one and reading it gives the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from image_strategies import references

from modelyard.images import Reference, parse

SHA = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("text", "name", "tag", "digest"),
    [
        ("quay.io/x/op:v1", "quay.io/x/op", "v1", ""),
        (f"quay.io/x/op:v1@{SHA}", "quay.io/x/op", "v1", SHA),
        (f"quay.io/x/op@{SHA}", "quay.io/x/op", "", SHA),
        ("127.0.0.1:5000/op", "127.0.0.1:5000/op", "", ""),
        ("localhost/op:1", "localhost/op", "1", ""),
        ("busybox", "docker.io/library/busybox", "", ""),
        ("rayproject/ray:2.9", "docker.io/rayproject/ray", "2.9", ""),
        ("docker.io/busybox:1", "docker.io/library/busybox", "1", ""),
        ("registry:5000/op:1", "registry:5000/op", "1", ""),
        ("a/b__c-d.e:1", "docker.io/a/b__c-d.e", "1", ""),
    ],
)
def test_reference_is_read_as_a_registry_reads_it(text: str, name: str, tag: str, digest: str) -> None:
    found = parse(text)
    assert found is not None
    assert (found.name, found.tag, found.digest) == (name, tag, digest)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "quay.io/",
        "quay.io/X:1",
        "https://quay.io/x:1",
        "quay.io/x/:1",
        "quay.io/x:",
        "quay.io/x:a b",
        "quay.io/x@sha256:12",
        "quay.io//x",
        "$(IMAGE)",
        "{{ .Values.image }}:v1",
        "x" * 256,
        "quay.io/x:" + "a" * 129,
        "a" + "/a" * 130,
    ],
)
def test_what_no_registry_takes_is_no_reference(text: str) -> None:
    assert parse(text) is None


def test_name_of_docker_io_is_shortened_as_upstreams_write_it() -> None:
    assert Reference("docker.io", "library/busybox").familiar == "busybox"
    assert Reference("docker.io", "kserve/agent").familiar == "kserve/agent"
    assert Reference("quay.io", "library/x").familiar == "quay.io/library/x"


@given(references)
def test_reference_is_the_same_after_writing_and_reading(reference: Reference) -> None:
    assert parse(str(reference)) == reference


@given(st.text(max_size=60))
def test_any_text_is_a_reference_or_none_and_never_an_error(text: str) -> None:
    found = parse(text)
    assert found is None or parse(str(found)) == found
