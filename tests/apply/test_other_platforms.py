"""On a real control plane: clusters of another kind, CRDs of another manager, kinds that come from elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from apply_helpers import ABOUT, config_map, definition, namespace, rendered

from modelyard.apply import install, refuse_managed_definitions, refuse_other_platforms
from modelyard.apply.run import Run
from modelyard.apply.served import wait_served
from modelyard.catalog import Target
from modelyard.cluster import Session
from modelyard.errors import NotReadyError, RefusalError
from modelyard.events import discard
from modelyard.local.runtime import ClusterInfo
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
    files = {
        "upstream.lock": "upstreams: {}\n",
        f"manifests/cluster/{own}/component.yaml": f"name: {own}\n{ABOUT}",
        f"manifests/cluster/{own}/kustomization.yaml": "resources: [all.yaml]\n",
        f"manifests/cluster/{own}/all.yaml": "---\n".join(json.dumps(each) + "\n" for each in objects),
        f"overlays/test/{own}/kustomization.yaml": f"resources: [../../../manifests/cluster/{own}]\n",
        "overlays/test/target.yaml": (
            f"name: test\nsummary: x\nprofiles: {{core: [{own}]}}\nrefusesApiGroups: [apps]\n"
        ),
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)

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


def test_a_definition_that_somebody_else_manages_is_refused_and_one_of_ours_is_not(session: Session, own: str) -> None:
    crd = definition(f"{own}.example.test")
    item = rendered(own, namespace(own), crd)
    refuse_managed_definitions(session, [item])  # nobody has it yet
    marked = {**crd, "metadata": {**crd["metadata"], "labels": {"olm.managed": "true"}}}
    session.apply(marked)
    try:
        with pytest.raises(RefusalError, match=rf"managed by OLM; component {own} .*[\s\S]*--without {own}"):
            refuse_managed_definitions(session, [item])
        install(session, [item], timeout=180)
        refuse_managed_definitions(session, [item])  # it is ours by its ApplySet now, whatever marks are left
    finally:
        session.delete(ref_of(crd))


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
