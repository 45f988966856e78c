"""What platforms ask of the objects installed on them, which an API server of one's own lets pass."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import manifest_rules as rules
import pytest
import yaml

from modelyard.catalog import Catalog, GpuNodes, load, with_overlay
from modelyard.objects import Object, dig, mapping, mappings, ref_of, text
from modelyard.paths import data_root
from modelyard.platform.workspace import Workspace

Render = Callable[[str], Mapping[str, list[Object]]]
_CATALOG = load(data_root())
PULLING = sorted(name for name in _CATALOG.targets if _CATALOG.base(name) != "local")
OURS = "docker.io/modelyard/"  # built on `local`; no registry has them
CRITICAL = ("system-cluster-critical", "system-node-critical")


def objects_of(render: Render, target: str) -> Iterator[Object]:
    for listed in render(target).values():
        yield from listed


@pytest.mark.parametrize("target", PULLING)
def test_no_profile_runs_an_image_that_no_registry_has(target: str, render: Render) -> None:
    found = {image for objects in render(target).values() for image in rules.images(objects)}
    assert sorted(image for image in found if image.startswith(OURS)) == []


@pytest.mark.parametrize("target", PULLING)
def test_a_model_can_be_served_as_installed(target: str, render: Render) -> None:
    runtimes = rules.of_kind(render(target)["kserve"], "ClusterServingRuntime")
    formats = {
        text(each, "name") for runtime in runtimes for each in mappings(runtime, "spec", "supportedModelFormats")
    }
    assert {"huggingface", "onnx", "sklearn", "xgboost"} <= formats
    for runtime in runtimes:  # requests are answered while the server's endpoint is taken away
        [server] = mappings(runtime, "spec", "containers")
        assert mapping(server, "lifecycle", "preStop", "sleep"), text(runtime, "metadata", "name")


def test_openshift_publishes_no_model_by_itself(render: Render) -> None:
    [settings] = [each for each in objects_of(render, "openshift") if ref_of(each).name == "inferenceservice-config"]
    assert '"disableIngressCreation": true' in text(settings, "data", "ingress")


def test_openshift_asks_for_the_machine_api_only_with_what_is_offered(render: Render, catalog: Catalog) -> None:
    kinds = {f"{ref_of(each).group}" for each in objects_of(render, "openshift")}
    assert not {"autoscaling.openshift.io", "machine.openshift.io"} & kinds
    assert "gpu-nodes" in catalog.target("openshift").offered


def test_gke_has_a_quota_wherever_pods_are_critical(render: Render) -> None:
    found = list(objects_of(render, "cloud-gke"))
    critical = {
        ref_of(each).namespace
        for each in found
        if dig(each, "spec", "template", "spec", "priorityClassName") in CRITICAL
    } - {"kube-system"}
    allowed = {
        ref_of(each).namespace
        for each in rules.of_kind(found, "ResourceQuota")
        for term in mappings(each, "spec", "scopeSelector", "matchExpressions")
        if term.get("scopeName") == "PriorityClass" and set(CRITICAL) <= set(term["values"])
    }
    assert "coscheduling" in critical
    assert critical == allowed


def test_gke_keeps_each_gang_to_the_nodes_that_came_for_it(render: Render) -> None:
    objects = render("cloud-gke")["gpu-nodes"]
    [config] = rules.of_kind(objects, "ProvisioningRequestConfig")
    [update] = mappings(config, "spec", "podSetUpdates", "nodeSelector")
    assert update["key"] == "autoscaling.gke.io/provisioning-request"
    [flavor] = rules.of_kind(objects, "ResourceFlavor")
    tolerated = {text(each, "key") for each in mappings(flavor, "spec", "tolerations")}
    assert tolerated == {"nvidia.com/gpu", "cloud.google.com/gke-queued"}


BROUGHT = {  # by the operator: driver, toolkit, device plugin
    GpuNodes.BARE: (True, True, True),
    GpuNodes.DRIVER: (False, False, True),
    GpuNodes.COMPLETE: (False, False, False),
}


@pytest.mark.parametrize("target", [t for t in PULLING if _CATALOG.inherited(t).gpuNodes is not None])
def test_the_gpu_operator_brings_what_the_targets_nodes_lack(target: str, render: Render, catalog: Catalog) -> None:
    said = catalog.inherited(target)
    policies = rules.of_kind(render(target).get("gpu-operator", []), "ClusterPolicy")
    if not policies:
        assert said.gpuNodes is GpuNodes.COMPLETE
        return
    [policy] = policies
    parts = (dig(policy, "spec", part, "enabled") for part in ("driver", "toolkit", "devicePlugin"))
    assert said.gpuNodes is not None
    assert tuple(parts) == BROUGHT[said.gpuNodes]


def test_a_team_may_have_its_nodes_folders_only_where_a_site_says_so(
    catalog: Catalog, workspace: Workspace, render: Render, tmp_path: Path
) -> None:
    def level(objects: list[Object]) -> str:
        [team] = [each for each in rules.of_kind(objects, "Namespace") if ref_of(each).name == "team-a"]
        return text(team, "metadata", "labels", "pod-security.kubernetes.io/enforce")

    assert {level(render(target)["tenancy"]) for target in PULLING} == {"baseline"}
    site = tmp_path / "site"
    names = catalog.select(["tenancy"])
    root = os.path.relpath(catalog.root, site)
    (site / "tenancy").mkdir(parents=True)
    files = {
        "target.yaml": {"name": "site", "summary": "x", "base": "cloud-gke", "profiles": {"core": list(names)}},
        "kustomization.yaml": {
            "resources": [
                name if name == "tenancy" else os.path.relpath(catalog.folder("cloud-gke", name), site)
                for name in names
            ]
        },
        "tenancy/kustomization.yaml": {
            "resources": [f"../{root}/overlays/cloud-gke/tenancy"],
            "components": [f"../{root}/manifests/scheduler/tenancy/host-devices"],
        },
    }
    for name, content in files.items():
        (site / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    found = workspace.renderer().objects(with_overlay(catalog, site), "site", ["tenancy"])
    assert level(found["tenancy"]) == "privileged"
