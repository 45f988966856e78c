"""On a real API server: what a target asks of a cluster is found where it is there, and told where it is not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from modelyard.apply import check_prerequisites, refuse_missing_prerequisites
from modelyard.catalog import Target
from modelyard.cluster import Session
from modelyard.errors import RefusalError
from modelyard.local import ClusterInfo
from modelyard.objects import Object, ObjectRef


def target(**tests: object) -> Target:
    asked = {name: {"what": "x", "fix": "do y", "test": test, "refuses": True} for name, test in tests.items()}
    return Target.model_validate({"name": "own", "summary": "x", "profiles": {"core": []}, "prerequisites": asked})


@pytest.fixture
def fast(session: Session, own: str) -> Iterator[str]:
    made: Object = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": own},
        "provisioner": "example.test/none",
    }
    session.create(made)
    yield own
    session.delete(ObjectRef("storage.k8s.io", "StorageClass", "", own))


def dns(**more: str) -> dict[str, str]:
    return {"type": "object", "kind": "Namespace", "name": "kube-system"} | more


def test_each_kind_of_test_is_answered_by_the_cluster_both_ways(session: Session, fast: str) -> None:
    there = target(
        version={"type": "version", "minimum": "1.20"},
        group={"type": "api", "group": "apps"},
        kind={"type": "api", "group": "apps", "kind": "Deployment"},
        object=dns(),
        none=dns(type="no-object", name="nowhere"),
        storage={"type": "storage-class", "name": fast},
        label={"type": "node", "label": "kubernetes.io/os", "value": "linux"},
        resource={"type": "node", "resource": "cpu"},
        ready=dns(type="ready"),
    )
    missing = target(
        version={"type": "version", "minimum": "1.999"},
        group={"type": "api", "group": "nobody.test"},
        kind={"type": "api", "group": "apps", "kind": "Nothing"},
        object=dns(name="nowhere"),
        none=dns(type="no-object"),
        storage={"type": "storage-class", "name": f"{fast}-other"},
        label={"type": "node", "label": "kubernetes.io/os", "value": "plan9"},
        resource={"type": "node", "resource": "example.test/none"},
        ready=dns(type="ready", name="nowhere"),
        unserved={"type": "object", "group": "nobody.test", "kind": "Thing", "name": "x"},
    )
    assert {each.name: each.ok for each in check_prerequisites(session, there.prerequisites)} == dict.fromkeys(
        there.prerequisites, True
    )
    assert {each.name: each.ok for each in check_prerequisites(session, missing.prerequisites)} == dict.fromkeys(
        missing.prerequisites, False
    )


def test_an_install_ends_before_it_writes_where_a_must_is_missing(session: Session) -> None:
    refuse_missing_prerequisites(session, target(version={"type": "version", "minimum": "1.20"}), ["kueue"])
    with pytest.raises(RefusalError, match=r"v1\..*target own asks for: x[\s\S]*do y.*doctor --target own"):
        refuse_missing_prerequisites(session, target(version={"type": "version", "minimum": "1.999"}), ["kueue"])


def test_doctor_runs_the_checks_of_a_target_and_fails_with_its_fix(cluster: ClusterInfo) -> None:
    def doctor(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "modelyard", "doctor", "--target", "cloud", *arguments]
        where = ["--kubeconfig", str(cluster.kubeconfig)]
        return subprocess.run([*command, *where], capture_output=True, text=True, timeout=60, check=False)

    core = doctor("-o", "json")
    assert (core.returncode, json.loads(core.stdout)["ok"]) == (0, True), core.stdout + core.stderr
    full = doctor("--profile", "full", "-o", "json")
    checks = {check["name"]: check for check in json.loads(full.stdout)["checks"]}
    assert full.returncode == 9, full.stderr
    assert checks["kubernetes"]["ok"] is True
    assert checks["storage"]["ok"] is False  # the shared cluster has no default StorageClass
    assert "is-default-class=true" in checks["storage"]["remedy"]
    assert checks["webhooks-reached"]["ok"] is None
    table = doctor("--profile", "full").stdout
    assert "missing  storage" in table
    assert "fix: mark one of yours" in table
