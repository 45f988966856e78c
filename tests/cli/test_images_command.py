"""`modelyard images`: its forms, and that it lists what only jobs use."""

from __future__ import annotations

import json
import subprocess
import sys


def images(*arguments: str) -> str:
    command = [sys.executable, "-m", "modelyard", "images", "--target", "kind", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def test_json_has_every_place_of_every_image() -> None:
    found = json.loads(images("--component", "kserve", "--component", "kuberay", "-o", "json"))
    assert (found["apiVersion"], found["kind"], found["target"], found["mirror"]) == (
        "modelyard.dev/v1",
        "Images",
        "kind",
        None,
    )
    by_name = {image["name"]: image for image in found["images"]}
    agent = by_name["docker.io/kserve/agent"]
    assert agent["component"] == "kserve"
    assert {(place["kind"], place["name"], place["path"]) for place in agent["places"]} == {
        ("ConfigMap", "inferenceservice-config", f"data.{key}:2") for key in ("agent", "batcher", "logger")
    }
    assert by_name["docker.io/rayproject/ray"]["places"] == []  # only jobs use it
    assert all(image["digest"] and image["tag"] and "mirrored" not in image for image in found["images"])


def test_text_is_one_image_a_line_once_and_with_a_mirror_its_copy() -> None:
    lines = images("--component", "kserve", "-o", "text").splitlines()
    assert len(lines) == len(set(lines))
    assert any(line.startswith("docker.io/kserve/agent:") for line in lines)
    pairs = [
        line.split(" ") for line in images("--component", "kserve", "--mirror", "reg.test/p", "-o", "text").splitlines()
    ]
    assert [old for old, _ in pairs] == lines
    assert all(new.startswith("reg.test/p/") and new.endswith(old.partition("@")[0]) for old, new in pairs)


def test_table_names_the_place_of_a_hidden_image() -> None:
    table = images("--component", "cert-manager")
    assert "Deployment cert-manager/cert-manager spec.template.spec.containers[0].args[" in table
    assert table.splitlines()[0].split() == ["COMPONENT", "IMAGE", "DIGEST", "FOUND", "IN"]


def test_what_is_left_out_of_a_target_is_not_listed() -> None:
    everything = images("--profile", "core", "-o", "text").splitlines()
    lines = images("--profile", "core", "--without", "kserve", "-o", "text").splitlines()
    assert set(lines) < set(everything)
    assert not any("/kserve/" in line for line in lines)


def test_what_the_target_leaves_out_is_refused() -> None:
    command = [sys.executable, "-m", "modelyard", "images", "--target", "openshift", "--with", "metrics-server"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 3
    assert "component metrics-server: is left out of target openshift" in done.stderr
