"""On a real control plane: clusters of another kind, and kinds that come from elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from apply_helpers import config_map, definition, namespace, write_catalogue

from modelyard.apply import refuse_other_platforms
from modelyard.apply.run import Run
from modelyard.apply.served import SUBSCRIPTION, wait_served
from modelyard.catalog import Target
from modelyard.cluster import Session
from modelyard.errors import NotReadyError, RefusalError
from modelyard.events import discard
from modelyard.local import ClusterInfo
from modelyard.objects import GroupKind, ref_of


def target(**more: object) -> Target:
    return Target.model_validate({"name": "own", "summary": "x", "profiles": {"core": []}} | more)


def test_a_cluster_of_another_kind_is_refused(session: Session) -> None:
    refuse_other_platforms(session, target(requiresApiGroups=["apps"], refusesApiGroups=["config.openshift.io"]))
    with pytest.raises(RefusalError, match=r"has no API group config\.openshift\.io[\s\S]*--force-target"):
        refuse_other_platforms(session, target(requiresApiGroups=["apps", "config.openshift.io"]))
    with pytest.raises(RefusalError, match="has API group apps"):
        refuse_other_platforms(session, target(refusesApiGroups=["apps"]))


@pytest.mark.usefixtures("choice")
def test_a_dry_run_is_refused_where_the_install_would_be(cluster: ClusterInfo, tmp_path: Path, own: str) -> None:
    objects = (namespace(own), config_map(own, "a"))
    write_catalogue(tmp_path, own, objects, target="refusesApiGroups: [apps]")

    def install(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "modelyard", "install", "--target", "test", *arguments]
        environment = os.environ | {"MODELYARD_ROOT": str(tmp_path)}
        where = ["--kubeconfig", str(cluster.kubeconfig)]
        return subprocess.run(
            [*command, *where], env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    for arguments in ((), ("--dry-run", "client"), ("--dry-run", "server")):
        done = install(*arguments)
        assert (done.returncode, "has API group apps" in done.stderr) == (12, True), done.stderr
    forced = install("--dry-run", "client", "--force-target")
    assert "2 changes in 1 components" in forced.stdout, forced.stderr


@pytest.mark.parametrize(
    ("beside", "remedy"), [((), "modelyard doctor"), ((SUBSCRIPTION,), "kubectl get subscriptions")]
)
def test_who_must_bring_a_missing_kind_is_told(session: Session, beside: tuple[GroupKind, ...], remedy: str) -> None:
    with pytest.raises(NotReadyError) as caught:
        wait_served(Run(session, discard, timeout=0.1), "k", {GroupKind("nobodys.example.test", "Thing"), *beside})
    assert remedy in caught.value.remedy


def test_kinds_that_come_from_elsewhere_are_waited_for(session: Session, own: str) -> None:
    crd = definition(f"{own}.example.test")
    wanted = {GroupKind(f"{own}.example.test", "Thing")}
    with pytest.raises(NotReadyError, match=f"missing: .*{own}"):
        wait_served(Run(session, discard, timeout=0.1), "k", wanted)
    elsewhere = threading.Timer(1.0, lambda: session.apply(crd))
    elsewhere.start()
    try:
        wait_served(Run(session, discard, timeout=60), "k", wanted)
    finally:
        elsewhere.join()
        session.delete(ref_of(crd))
