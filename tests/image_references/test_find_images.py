"""Every place in which an image may hide, and every string that only looks like one."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from image_strategies import references

from modelyard.images import Reference, find

SHA = "sha256:" + "ab" * 32


def found(document: str, *declared: str) -> list[tuple[str, str]]:
    objects = list(yaml.safe_load_all(document))
    return [(str(each.reference), each.place.path) for each in find(objects, declared)]


@pytest.mark.parametrize(
    ("document", "image", "path"),
    [
        (
            "spec: {containers: [{name: a, image: 'quay.io/x/op:v1'}]}",
            "quay.io/x/op:v1",
            "spec.containers[0].image",
        ),
        ("spec: {containers: [{name: a, image: busybox}]}", "docker.io/library/busybox", "spec.containers[0].image"),
        ("spec: {args: ['--helper-image=quay.io/x/h:v1']}", "quay.io/x/h:v1", "spec.args[0]"),
        ("spec: {args: ['--helper-image=x/h:v1']}", "docker.io/x/h:v1", "spec.args[0]"),
        ("spec: {args: ['--helper-image', 'x/h']}", "docker.io/x/h", "spec.args[1]"),
        ("spec: {args: ['--set=a=b,sidecar=quay.io/x/s:v1,c=d']}", "quay.io/x/s:v1", "spec.args[0]"),
        ("spec: {command: [sh, -c, 'run --image x/y:v1 --fast']}", "docker.io/x/y:v1", "spec.command[2]"),
        ("spec: {env: [{name: SIDECAR, value: 'quay.io/x/s:v1'}]}", "quay.io/x/s:v1", "spec.env[0].value"),
        ("spec: {env: [{name: RELATED_IMAGE_S, value: 'x/s:v1'}]}", "docker.io/x/s:v1", "spec.env[0].value"),
        ('data: {agent: \'{"image": "x/a:v1", "n": 1}\'}', "docker.io/x/a:v1", "data.agent"),
        ('data: {c.yaml: "a: 1\\nlogger:\\n  image: x/a:v1 # b\\n"}', "docker.io/x/a:v1", 'data["c.yaml"]:3'),
        ("data: {c.yaml: \"sidecar: 'quay.io/x/a:v1'\\nb: 2\"}", "quay.io/x/a:v1", 'data["c.yaml"]:1'),
        ('data: {c.env: "A=b\\nAGENT_IMAGE=x/a\\n"}', "docker.io/x/a", 'data["c.env"]:2'),
        ("data: {c.txt: 'Pull quay.io/x/a:v1. Then wait.'}", "quay.io/x/a:v1", 'data["c.txt"]'),
        ("spec: {uri: 'oci://quay.io/x/model:v1'}", "quay.io/x/model:v1", "spec.uri"),
        (f"spec: {{runner: 'quay.io/x/a@{SHA}'}}", f"quay.io/x/a@{SHA}", "spec.runner"),
        ("spec: {defaultJobImage: 'x/job:v1'}", "docker.io/x/job:v1", "spec.defaultJobImage"),
        (
            "spec: {driver: {repository: nvcr.io/nvidia, image: driver, version: '570.1'}}",
            "nvcr.io/nvidia/driver:570.1",
            "spec.driver.repository",
        ),
        (
            f"spec: {{driver: {{repository: nvcr.io/nvidia, image: driver, version: '{SHA}'}}}}",
            f"nvcr.io/nvidia/driver@{SHA}",
            "spec.driver.repository",
        ),
        ("spec: {image: {repository: quay.io/x/a, tag: v1}}", "quay.io/x/a:v1", "spec.image.repository"),
        ("spec: {a: {registry: quay.io, repository: x/a, tag: v1}}", "quay.io/x/a:v1", "spec.a.repository"),
        (
            "spec: {schema: {properties: {runner: {default: 'quay.io/x/a:v1'}}}}",
            "quay.io/x/a:v1",
            "spec.schema.properties.runner.default",
        ),
        ("metadata: {annotations: {sidecar: 'quay.io/x/a:v1'}}", "quay.io/x/a:v1", "metadata.annotations.sidecar"),
    ],
)
def test_image_is_found_where_it_hides(document: str, image: str, path: str) -> None:
    assert found(document) == [(image, path)]


@pytest.mark.parametrize(
    "document",
    [
        "spec: {imagePullPolicy: IfNotPresent}",
        "spec: {args: ['--register-with-taints=nvidia.com/gpu:NoSchedule']}",
        "spec: {args: ['--watch=ray.io/v1:RayJob', '--labels=nvidia.com/gpu.present:true']}",
        "spec: {url: 'https://example.com/a/b:v1'}",
        "spec: {url: 'http://svc.ns.svc:8080/metrics'}",
        "data: {c.yaml: 'kueue.x-k8s.io/queue-name: default'}",
        "spec: {group: 'kubeflow.org/v1', ref: 'arn:aws:iam::1:role/x'}",
        "spec: {disk: {image: projects/rhcos-cloud/global/images/rhcos}}",  # a machine's, not a container's
        "spec: {image: my-rhcos-image}",
        "data: {c.yaml: \"image: true\\nimage:\\n  type: string\\nother: 'image: {{ .Image }}'\"}",
        "spec: {schema: {properties: {image: {type: string, description: 'such as quay.io/x/a:v1'}}}}",
        "spec: {repository: 'https://charts.example.com/x', version: v1}",
        "spec: {dashboards: {repository: team-a, version: v1}}",
        "spec: {hosts: ['db.example.com:5432', 'ns/svc:8080']}",
        "spec: {containers: [{name: a, image: '$(IMAGE)'}]}",
    ],
)
def test_what_only_looks_like_an_image_is_left_alone(document: str) -> None:
    assert found(document) == []


def test_declared_image_is_known_also_as_upstream_shortens_it() -> None:
    document = "data: {c.txt: 'uses kserve/agent:v1 and team/agent:v1'}"
    assert found(document) == []
    assert found(document, "docker.io/kserve/agent") == [("docker.io/kserve/agent:v1", 'data["c.txt"]')]


def test_all_images_of_one_text_are_found_in_their_order() -> None:
    text = json.dumps({"a": {"image": "x/a:v1"}, "b": ["quay.io/x/b:v1", {"initImage": "x/c:v1"}]})
    assert [image for image, _ in found(f"data: {{c: {json.dumps(text)}}}")] == [
        "docker.io/x/a:v1",
        "quay.io/x/b:v1",
        "docker.io/x/c:v1",
    ]


# How a text may go on before and after an image.
AROUND = st.sampled_from(
    [
        ("", ""),
        ("--agent=", ""),
        ('{"a": "', '"}'),
        ("a: ", " # b\nc: 1"),
        ("x,", ",y"),
        ("see (", ")."),
        ("oci://", ""),
    ]
)


@given(references, AROUND)
def test_any_qualified_image_is_found_in_any_text(reference: Reference, around: tuple[str, str]) -> None:
    before, after = around
    obj = {"kind": "ConfigMap", "apiVersion": "v1", "data": {"c": f"{before}{reference}{after}"}}
    assert [each.reference for each in find([obj])] == [reference]


WORDS = st.sampled_from(
    ["x/a:v1", "quay.io/x/a", "busybox", "--agent-image", "--image=x/a", "IMAGE", "see oci://x/y:v1", "a: b", "v1", ""]
)
KEYS = st.sampled_from(["image", "jobImage", "name", "value", "description", "repository", "version", "tag", "args"])
JSON = st.recursive(
    WORDS | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(KEYS, JSON, max_size=3))
def test_an_object_is_passed_over_only_where_a_walk_finds_nothing(tree: dict[str, object]) -> None:
    walked = {"before": {"image": "quay.io/always/walked:v1"}, "tree": tree}  # one image, and the whole is walked
    alone = [str(each.reference) for each in find([{"tree": tree}])]
    assert ["quay.io/always/walked:v1", *alone] == [str(each.reference) for each in find([walked])]
