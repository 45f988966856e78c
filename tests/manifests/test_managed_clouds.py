"""What AKS, IBM Cloud and Alibaba Cloud ask of the objects installed on them, and of whoever prepares the cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import manifest_rules as rules
import pytest
import yaml

from modelyard.catalog import Catalog, with_overlay
from modelyard.catalog.prerequisites import ApiTest, ObjectTest, StorageClassTest
from modelyard.objects import Object, dig, mapping, mappings, ref_of, text
from modelyard.platform.workspace import Workspace

Render = Callable[[str], Mapping[str, list[Object]]]
SKU_GPU = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}


@pytest.fixture
def variant(catalog: Catalog, workspace: Workspace, tmp_path: Path) -> Callable[[str, str], list[Object]]:
    """Render a component of cloud-aks with one of its variants, as a site's overlay names it."""

    def rendered(component: str, folder: str) -> list[Object]:
        site = tmp_path / "site"
        names = catalog.select([component])
        root = os.path.relpath(catalog.root, site)
        (site / component).mkdir(parents=True)
        target = {"name": "site", "summary": "x", "base": "cloud-aks", "profiles": {"core": list(names)}}
        below = {name: os.path.relpath(catalog.folder("cloud-aks", name), site) for name in names}
        paths = [name if name == component else below[name] for name in names]
        patched = {
            "resources": [f"../{root}/overlays/cloud-aks/{component}"],
            "components": [f"../{root}/overlays/cloud-aks/{component}/{folder}"],
        }
        (site / "target.yaml").write_text(yaml.safe_dump(target), encoding="utf-8")
        (site / "kustomization.yaml").write_text(yaml.safe_dump({"resources": paths}), encoding="utf-8")
        (site / component / "kustomization.yaml").write_text(yaml.safe_dump(patched), encoding="utf-8")
        return list(workspace.renderer().objects(with_overlay(catalog, site), "site", [component])[component])

    return rendered


def _brought(policy: Object) -> tuple[object, object, object]:
    """Return what has to go together on AKS: who brings the driver, who the toolkit, and the runtime's name."""
    return (
        dig(policy, "spec", "driver", "enabled"),
        dig(policy, "spec", "toolkit", "enabled"),
        dig(policy, "spec", "operator", "runtimeClass"),
    )


def test_aks_brings_driver_toolkit_and_runtime_unless_the_site_says_that_its_nodes_are_bare(
    render: Render, variant: Callable[[str, str], list[Object]]
) -> None:
    [usual] = rules.of_kind(render("cloud-aks")["gpu-operator"], "ClusterPolicy")
    [bare] = rules.of_kind(variant("gpu-operator", "bare"), "ClusterPolicy")
    assert _brought(usual) == (False, False, "nvidia-container-runtime")
    assert _brought(bare) == (True, True, "nvidia")


def test_the_toolkit_on_aks_reads_the_file_that_containerd_reads(render: Render) -> None:
    [policy] = rules.of_kind(render("cloud-aks")["gpu-operator"], "ClusterPolicy")
    assert {"name": "RUNTIME_CONFIG_SOURCE", "value": "file"} in mappings(policy, "spec", "toolkit", "env")


def test_what_runs_on_gpu_nodes_of_aks_tolerates_the_taint_of_its_documentation(render: Render) -> None:
    rendered = render("cloud-aks")
    [policy] = rules.of_kind(rendered["gpu-operator"], "ClusterPolicy")
    assert {"nvidia.com/gpu", "sku"} == {text(t, "key") for t in mappings(policy, "spec", "daemonsets", "tolerations")}
    for component, name in (("tenancy", "gpu"), ("gpu-nodes", "gpu-on-demand")):
        [flavor] = [f for f in rules.of_kind(rendered[component], "ResourceFlavor") if ref_of(f).name == name]
        assert SKU_GPU in mappings(flavor, "spec", "tolerations"), name


def test_gpu_nodes_on_aks_are_the_cluster_autoscalers_and_need_no_kind_that_may_be_missing(render: Render) -> None:
    objects = render("cloud-aks")["gpu-nodes"]
    assert rules.of_kind(objects, "NodePool") == []
    [config] = rules.of_kind(objects, "ProvisioningRequestConfig")
    assert text(config, "spec", "provisioningClassName") == "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
    [flavor] = rules.of_kind(objects, "ResourceFlavor")
    assert mapping(flavor, "spec", "nodeLabels") == {"kubernetes.azure.com/agentpool": "gpuondemand"}
    [queue] = rules.of_kind(objects, "ClusterQueue")
    assert mappings(queue, "spec", "admissionChecksStrategy", "admissionChecks")


def test_a_site_with_node_auto_provisioning_takes_its_pool_in_place_of_provisioning_requests(
    variant: Callable[[str, str], list[Object]],
) -> None:
    objects = variant("gpu-nodes", "node-auto-provisioning")
    [pool] = rules.of_kind(objects, "NodePool")
    assert mapping(pool, "spec", "template", "spec", "nodeClassRef")["kind"] == "AKSNodeClass"
    assert mapping(pool, "spec", "limits") == {"nvidia.com/gpu": "0"}
    [flavor] = rules.of_kind(objects, "ResourceFlavor")
    assert mapping(flavor, "spec", "nodeLabels") == {"karpenter.sh/nodepool": "gpu-on-demand"}
    assert not [each for each in objects if ref_of(each).kind in ("AdmissionCheck", "ProvisioningRequestConfig")]
    [queue] = rules.of_kind(objects, "ClusterQueue")
    assert "admissionChecksStrategy" not in mapping(queue, "spec")


def test_every_webhook_on_aks_is_left_alone_by_its_admissions_enforcer(render: Render) -> None:
    found = [each for objects in render("cloud-aks").values() for each in objects if "Webhook" in ref_of(each).kind]
    assert found
    for each in found:
        assert text(each, "metadata", "annotations", "admissions.enforcer/disabled") == "true", ref_of(each)


def test_aks_is_asked_for_what_gpu_nodes_and_the_gpu_operator_rest_on(catalog: Catalog) -> None:
    asked = catalog.inherited("cloud-aks").prerequisites
    assert asked["cluster-autoscaler"].test == ApiTest(
        type="api", group="autoscaling.x-k8s.io", kind="ProvisioningRequest"
    )
    assert asked["cluster-autoscaler"].components == ("gpu-nodes",)
    plugin = asked["device-plugin-by-hand"]
    assert plugin.refuses
    assert isinstance(plugin.test, ObjectTest)
    assert (plugin.test.type, plugin.test.namespace) == ("no-object", "gpu-resources")


@pytest.mark.parametrize(("target", "name"), [("cloud-ibm", "outbound"), ("cloud-ack", "registries")])
def test_who_opens_the_way_to_registries_is_told_all_of_them(
    target: str, name: str, render: Render, catalog: Catalog
) -> None:
    used = {image.split("/")[0] for objects in render(target).values() for image in rules.images(objects)}
    told = {word.strip(",:") for word in catalog.inherited(target).prerequisites[name].what.split()}
    assert used <= told
    assert len(used) == 5


def test_ibm_clouds_autoscaler_is_not_said_to_go_down_to_nothing(catalog: Catalog) -> None:
    values = (catalog.root / "overlays/cloud-ibm/gpu-nodes/values.env").read_text(encoding="utf-8")
    assert "minSize 0" not in values
    assert isinstance(catalog.inherited("cloud-ibm").prerequisites["autoscaler"].test, ObjectTest)


def test_on_ack_the_volume_of_metrics_names_a_class_that_ack_has(render: Render, catalog: Catalog) -> None:
    [prometheus] = rules.of_kind(render("cloud-ack")["prometheus"], "StatefulSet")
    [claim] = mappings(prometheus, "spec", "volumeClaimTemplates")
    wanted = catalog.inherited("cloud-ack").prerequisites["storage"].test
    assert isinstance(wanted, StorageClassTest)
    assert text(claim, "spec", "storageClassName") == wanted.name == "alicloud-disk-topology-alltype"


def test_ack_refuses_a_second_node_exporter_on_the_same_port(catalog: Catalog) -> None:
    asked = catalog.inherited("cloud-ack").prerequisites["port-9100"]
    assert asked.refuses
    assert asked.components == ("node-exporter",)
    assert isinstance(asked.test, ObjectTest)
    assert (asked.test.type, asked.test.namespace, asked.test.name) == ("no-object", "arms-prom", "node-exporter")
