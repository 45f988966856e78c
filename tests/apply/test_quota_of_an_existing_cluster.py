"""The first team's quota on a cluster that was there before: what its nodes have left, every time anew."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from apply_helpers import ABOUT, deployment, namespace

from modelyard.apply import plan_removal, uninstall
from modelyard.cluster import Session, Watcher
from modelyard.local import ClusterInfo
from modelyard.objects import GroupKind, Object, ObjectRef, dig, mapping, text
from modelyard.plan.quota_left import pod_request
from modelyard.quantity import parse

TEAM = "team"  # the component that has the quota
PLATFORM_CPU, OTHER_CPU, STEP = Decimal("0.15"), Decimal("0.1"), Decimal("0.05")


def asking(workload: dict[str, object], cpu: Decimal) -> dict[str, object]:
    dug = dig(workload, "spec", "template", "spec", "containers")
    assert isinstance(dug, list)
    dug[0]["resources"] = {"requests": {"cpu": str(cpu)}}
    return workload


@pytest.fixture
def catalogue(tmp_path: Path, own: str, choice: None) -> Path:
    """A catalogue of a platform that asks for CPU, and of a team whose quota is in a ConfigMap."""
    root = tmp_path / "root"
    objects = [namespace(own), asking(deployment(own, "controller"), PLATFORM_CPU)]
    files = {
        "upstream.lock": "upstreams: {}\n",
        f"manifests/cluster/{own}/component.yaml": f"name: {own}\n{ABOUT}namespace: {own}\n",
        f"manifests/cluster/{own}/kustomization.yaml": "resources: [all.yaml]\n",
        f"manifests/cluster/{own}/all.yaml": "---\n".join(json.dumps(each) + "\n" for each in objects),
        f"manifests/cluster/{TEAM}/component.yaml": (
            f"name: {TEAM}\n{ABOUT}requires: [{own}]\nnamespace: {own}-team\n"
            "values: {cpu: {about: CPUs, type: quantity}, memory: {about: memory, type: quantity}}\n"
            "sized: {cpu: cpu, memory: memory, queue: LocalQueue.kueue.x-k8s.io}\n"
        ),
        f"manifests/cluster/{TEAM}/kustomization.yaml": "resources: []\n",
        "overlays/test/target.yaml": (
            f"name: test\nsummary: x\nfixedNodes: true\nprofiles: {{core: [{own}, {TEAM}]}}\n"
        ),
        f"overlays/test/{own}/kustomization.yaml": f"resources: [../../../manifests/cluster/{own}]\n",
        f"overlays/test/{TEAM}/kustomization.yaml": (
            f"namespace: {own}\nconfigMapGenerator:\n"
            "- {name: quota, envs: [values.env], options: {disableNameSuffixHash: true}}\n"
        ),
        f"overlays/test/{TEAM}/values.env": "cpu=4\nmemory=8Gi\n",
        "overlays/test/values.yaml": f"{TEAM}: {{cpu: 4, memory: 8Gi}}\n",
    }
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


def modelyard(root: Path, cluster: ClusterInfo, *arguments: str) -> str:
    command = [sys.executable, "-m", "modelyard", "install", "--target", "test", "--force-target", *arguments]
    done = subprocess.run(
        [*command, "--kubeconfig", str(cluster.kubeconfig)],
        env=os.environ | {"MODELYARD_ROOT": str(root)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def quota(session: Session, own: str) -> Decimal:
    found = parse(dig(session.get(ObjectRef("", "ConfigMap", own, "quota")), "data", "cpu"))
    assert found is not None
    return found


def memory(session: Session, own: str) -> str:
    return text(session.get(ObjectRef("", "ConfigMap", own, "quota")) or {}, "data", "memory")


def items(session: Session, kind: str) -> tuple[Object, ...]:
    listing = session.list(GroupKind("", kind))
    assert listing is not None
    return listing.items


def left(session: Session) -> Decimal:
    """Return the CPU that no pod on a node asks for, as the quota rounds it."""
    total = sum(parse(dig(node, "status", "allocatable", "cpu")) or 0 for node in items(session, "Node"))
    bound = [pod for pod in items(session, "Pod") if text(pod, "spec", "nodeName")]
    live = [pod for pod in bound if text(pod, "status", "phase") not in ("Succeeded", "Failed")]
    return (total - sum(pod_request(mapping(pod, "spec")).cpu for pod in live)) // STEP * STEP


def wait_until_bound(session: Session, ns: str, prefix: str) -> None:
    with Watcher(session, namespace=ns) as watcher:
        changes = [*watcher.watch(GroupKind("", "Pod"))]
        while not any(each.ref.name.startswith(prefix) and text(each.obj, "spec", "nodeName") for each in changes):
            seen = watcher.next(180)
            assert seen is not None, f"no pod {prefix}... comes onto a node"
            changes = [seen]


def test_it_is_what_the_nodes_have_left_beside_the_platform_and_others(
    session: Session, cluster: ClusterInfo, catalogue: Path, own: str, shell: str
) -> None:
    modelyard(catalogue, cluster)
    assert quota(session, own) == left(session)
    # Run again, with the platform's own pods there: they count once. So does the dry run count them.
    assert "0 changes in 2 components" in modelyard(catalogue, cluster, "--dry-run", "client")
    before = quota(session, own)
    session.create(asking(deployment(own, "neighbour"), OTHER_CPU))
    wait_until_bound(session, own, "neighbour-")
    modelyard(catalogue, cluster)
    assert quota(session, own) == left(session) == before - OTHER_CPU
    uninstall(session, plan_removal(session, [TEAM]), timeout=180)


def test_what_the_site_sets_holds_and_is_remembered_until_it_is_taken_back(
    session: Session, cluster: ClusterInfo, catalogue: Path, own: str, shell: str, tmp_path: Path
) -> None:
    values = tmp_path / "values.yaml"
    values.write_text(f"{TEAM}:\n  cpu: 250m\n")
    modelyard(catalogue, cluster, "--values", str(values))
    assert quota(session, own) == Decimal("0.25")
    assert memory(session, own) != "8Gi", "what the site leaves alone is still what the nodes have left"
    modelyard(catalogue, cluster)
    assert quota(session, own) == Decimal("0.25")
    assert "0 changes in 2 components" in modelyard(catalogue, cluster, "--dry-run", "client")
    modelyard(catalogue, cluster, "--no-values")
    assert quota(session, own) == left(session)
    uninstall(session, plan_removal(session, [TEAM]), timeout=180)


def test_file_with_a_value_that_does_not_fit_is_refused_before_anything_is_written(
    session: Session, cluster: ClusterInfo, catalogue: Path, own: str, tmp_path: Path
) -> None:
    values = tmp_path / "values.yaml"
    values.write_text(f"{TEAM}:\n  cpus: 2\n")
    with pytest.raises(AssertionError, match=r"values.yaml, line 2: field team.cpus: unknown field \(did you mean cpu"):
        modelyard(catalogue, cluster, "--values", str(values))
    assert session.get(ObjectRef("", "ConfigMap", own, "quota")) is None
