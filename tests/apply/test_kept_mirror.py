"""A mirror that was named once is held to: a later install without it does not move the images back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from apply_helpers import ABOUT, namespace

from modelyard.cluster import Session
from modelyard.local import ClusterInfo
from modelyard.objects import ObjectRef, dig

IMAGE = "registry.example.test/group/tool:v1"
MIRRORED = f"mirror.example.test/platform/{IMAGE}"


@pytest.fixture
def catalogue(tmp_path: Path, own: str, choice: None) -> Path:
    """A catalogue of one component, whose pod template names an image; no pod ever runs from it."""
    containers = [{"name": "main", "image": IMAGE}]
    template = {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": "job", "namespace": own},
        "template": {"spec": {"containers": containers}},
    }
    files = {
        "upstream.lock": "upstreams: {}\n",
        f"manifests/cluster/{own}/component.yaml": f"name: {own}\n{ABOUT}",
        f"manifests/cluster/{own}/kustomization.yaml": "resources: [all.yaml]\n",
        f"manifests/cluster/{own}/all.yaml": "---\n".join(
            json.dumps(each) + "\n" for each in (namespace(own), template)
        ),
        f"overlays/test/{own}/kustomization.yaml": f"resources: [../../../manifests/cluster/{own}]\n",
        "overlays/test/target.yaml": f"name: test\nsummary: x\nprofiles: {{core: [{own}]}}\n",
    }
    root = tmp_path / "root"
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


def test_images_stay_where_a_mirror_was_named_until_it_is_taken_back(
    session: Session, cluster: ClusterInfo, catalogue: Path, own: str
) -> None:
    def install(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "modelyard", "install", "--target", "test", "--force-target", *arguments]
        done = subprocess.run(
            [*command, "--kubeconfig", str(cluster.kubeconfig)],
            env=os.environ | {"MODELYARD_ROOT": str(catalogue)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done

    def image() -> object:
        containers = dig(session.get(ObjectRef("", "PodTemplate", own, "job")), "template", "spec", "containers")
        assert isinstance(containers, list)
        return containers[0]["image"]

    install("--mirror", "mirror.example.test/platform")
    assert image() == MIRRORED
    again = install()
    assert image() == MIRRORED
    assert "as chosen before: --profile core --mirror mirror.example.test/platform" in again.stderr
    assert "0 changes in 1 components" in install("--dry-run", "client").stdout
    assert f"update PodTemplate {own}/job" in install("--dry-run", "client", "--no-mirror").stdout
    assert image() == MIRRORED
    install("--no-mirror")
    assert image() == IMAGE
    install()
    assert image() == IMAGE
