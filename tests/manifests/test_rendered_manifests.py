"""What every target's manifests must hold. Each rule is shown to find its fault in test_manifest_rules.py.

| about | rule |
| --- | --- |
| images | a release's tag, declared in component.yaml; on `local` also built there |
| requests, probes | each container has them; on `local` all operators together leave the CPUs to jobs |
| services, webhooks | each selector finds its pods, each call its Service |
| certificates | one authority; each call trusted by a certificate that is made out to it |
| objects | one owner each; in a namespace, and of a kind, that is there; so is all that they name |
| security | namespaces have a Pod Security level; no unlimited roles; on OpenShift no fixed users, one SCC |
| simulated nodes | no DaemonSet has pods on them, where there are any |
| addresses | no cluster domain; nothing published |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import cluster_rules
import manifest_rules as rules
import pytest
import yaml

from modelyard.catalog import Catalog, load
from modelyard.catalog.values import by_component
from modelyard.objects import Object, dig, mapping, mappings, text
from modelyard.paths import data_root
from modelyard.platform.workspace import Workspace
from modelyard.scaffold.values import values_files

_CATALOG = load(data_root())
TARGETS = sorted(_CATALOG.targets)
NAMES = sorted(_CATALOG.components)
PAIRS = [(target, name) for target in TARGETS for name in NAMES if name not in _CATALOG.inherited(target).leavesOut]
OFFERED = [(target, name) for target in TARGETS for name in _CATALOG.offered(target)]

# Containers without a probe, and why.
UNPROBED = {
    "cert-manager-cainjector": "upstream serves nothing to probe; it ends when it loses its lease",
    "install-multus-binary": "copies two files before the pod's own containers start, and ends",
    "kube-rbac-proxy": "guards metrics alone, and ends when it cannot listen",
}
# Components whose runtimes leave requests to the jobs and to the LimitRange of the team's namespace, and why.
WITHOUT_REQUESTS = {"trainer": "upstream's runtimes: a TrainJob says resourcesPerNode"}
# Namespaces whose pods may do everything to their nodes, and why.
PRIVILEGED = {
    "dra-example-driver": "a kubelet plugin: its socket and devices are in folders of the node",
    "multi-nic-cni-operator": "its daemons are in the nodes' network and put plugins on their disks",
    "multi-nic-cni-operator-system": "its daemons are in the nodes' network and put plugins on their disks",
    "node-feature-discovery": "its worker reads /sys and /boot of the node by hostPath",
    "nvidia-gpu-operator": "its operands load kernel modules and configure the container runtime",
    "openshift-nfd": "its worker reads /sys and /boot of the node by hostPath",
}
# Roles that may do everything, and why.
UNLIMITED = {
    "ClusterRole keda-external-metrics-reader": "reads metrics, whose names are the resources of their API group",
}
# API services that can be down, and why they are there all the same.
API_SERVICES = {
    "external.metrics.k8s.io": "what KEDA scales by; the autoscaler asks nobody else",
    "metrics.k8s.io": "kubectl top and autoscalers ask for it; every cluster has one",
}
# Objects for OpenShift that name a user, and why. Their pods run as ServiceAccount fixed-user.
FIXED_USERS = {
    "ClusterTrainingRuntime deepspeed-distributed": "its sshd knows user 1000",
    "ClusterTrainingRuntime mlx-distributed": "its sshd knows user 1000",
    "ClusterTrainingRuntime mpi-distributed": "its sshd knows user 1000",
}
# team-a's resources, and the value that sets each
QUOTA = {"cpu": "cpu", "memory": "memory", "nvidia.com/gpu": "gpus"}
WITH_VALUES = [(target, name) for target, name in PAIRS if name in by_component(_CATALOG.defaults[target])]

Render = Callable[[str], Mapping[str, list[Object]]]
Offered = Callable[[str, str], list[Object]]


@dataclass(frozen=True, slots=True)
class Here:
    """A component on a target, and all that the target renders."""

    target: str
    name: str
    objects: list[Object]
    platform: Mapping[str, list[Object]]
    catalog: Catalog


Rule = Callable[[Here], list[str]]  # what is wrong
RULES: list[Rule] = []


def rule(each: Rule) -> Rule:
    """Have a rule judge every component on every target."""
    RULES.append(each)
    return each


@pytest.mark.parametrize(("target", "name"), PAIRS)
def test_a_component_keeps_every_rule(
    target: str, name: str, render: Render, offered: Offered, catalog: Catalog
) -> None:
    """One test a component, not one a rule: thousands of tests take longer to be handed out than to run."""
    objects = offered(target, name) if (target, name) in OFFERED else render(target).get(name)
    if objects is None:
        pytest.fail(
            f"target {target} has no component {name}: name it in overlays/{target}/target.yaml, in a profile, or in "
            "`offered` with when to take it, or in `leavesOut` with the reason"
        )
    here = Here(target, name, objects, render(target), catalog)
    faults = [f"{each.__name__}: {fault}" for each in RULES for fault in each(here)]
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_has_every_component_or_says_why_not(target: str, catalog: Catalog, render: Render) -> None:
    said = catalog.inherited(target)
    assert sorted([*render(target), *said.offered, *said.leavesOut]) == NAMES


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_built_over_all_components_is_what_the_target_has(target: str, catalog: Catalog) -> None:
    """Argo CD and Flux install what kustomization.yaml lists, modelyard what target.yaml lists."""
    file = catalog.whole(target) / "kustomization.yaml"
    listed = [Path(entry).name for entry in yaml.safe_load(file.read_text(encoding="utf-8"))["resources"]]
    assert sorted(name for name in listed if name in catalog.components) == sorted(catalog.everything(target))


@rule
def every_object_of_a_namespace_names_it(here: Here) -> list[str]:
    return rules.without_namespace(here.objects)


@rule
def images_are_pinned_to_a_release(here: Here) -> list[str]:
    return rules.floating_images(here.objects)


@rule
def every_image_is_declared(here: Here) -> list[str]:
    declared = {f"{image.name}:{image.tag}" for image in here.catalog.component(here.name).images}
    return rules.undeclared_images(here.objects, declared)


def test_every_declared_image_is_locked_with_the_same_tag(catalog: Catalog) -> None:
    declared = {image.name: image.tag for c in catalog.components.values() for image in c.images}
    assert {name: pin.tag for name, pin in catalog.lock.images.items()} == declared


def test_what_runs_on_local_is_built_on_local(catalog: Catalog, render: Render) -> None:
    built = {f"{i.name}:{i.tag}" for c in catalog.components.values() for i in c.images if i.build is not None}
    objects = [obj for listed in render("local").values() for obj in listed]
    assert rules.images_without_build(objects, built) == []


@rule
def images_are_pulled_once_only(here: Here) -> list[str]:
    return rules.always_pulled(here.objects)


def test_every_container_on_local_has_requests_and_a_memory_limit(render: Render) -> None:
    assert [fault for objects in render("local").values() for fault in rules.unbounded_containers(objects)] == []


@rule
def every_runtime_has_requests_or_a_reason(here: Here) -> list[str]:
    return [] if here.name in WITHOUT_REQUESTS else rules.runtimes_without_requests(here.objects)


def test_a_container_of_the_team_has_requests_where_a_runtime_has_none(render: Render) -> None:
    [limits] = rules.of_kind(render("local")["tenancy"], "LimitRange")
    [of_container] = mappings(limits, "spec", "limits")
    assert dig(of_container, "type") == "Container"
    assert {"cpu", "memory"} <= mapping(of_container, "defaultRequest").keys()


@pytest.mark.parametrize(("profile", "cpus"), [("core", "0.25"), ("full", "0.45")])
def test_operators_on_local_leave_the_cpus_to_jobs(profile: str, cpus: str, render: Render) -> None:
    rendered = render("local")
    asked = sum(rules.requested_cpu(rendered[name]) for name in _CATALOG.profile("local", profile))
    assert asked <= Decimal(cpus)


@rule
def every_service_finds_its_pods(here: Here) -> list[str]:
    return rules.services_without_pods(here.objects)


@rule
def every_call_of_the_api_server_has_its_service(here: Here) -> list[str]:
    return rules.calls_without_service(here.objects)


@rule
def every_call_of_the_api_server_is_trusted_by_a_certificate(here: Here) -> list[str]:
    if here.name != "cert-manager":
        return rules.calls_without_trust(here.objects)
    # Its webhook makes its own: nothing is there yet to make it.
    own = {text(obj, "metadata", "name") for obj, _ in rules.webhook_callers(here.objects)}
    installed = {"cert-manager-webhook"} if rules.of_kind(here.objects, "Deployment") else set()  # else by OLM
    return sorted(own ^ installed)


@rule
def there_is_one_authority(here: Here) -> list[str]:
    first = "Certificate cert-manager/modelyard-ca is signed by ClusterIssuer modelyard-self-signed"
    expected = [first] if here.name == "cert-manager" else []
    found = rules.other_authorities(here.objects)
    return [] if found == expected else [f"found {found}, not {expected}"]


@rule
def certificates_are_renewed_in_good_time(here: Here) -> list[str]:
    return rules.moving_certificates(here.objects)


@rule
def every_mounted_secret_is_made_by_somebody(here: Here) -> list[str]:
    return rules.secrets_of_nobody(here.objects)


@rule
def every_mounted_configmap_is_made_by_somebody(here: Here) -> list[str]:
    return rules.settings_of_nobody(here.objects)


@pytest.mark.parametrize("target", TARGETS)
def test_no_object_has_two_owners(target: str, render: Render) -> None:
    assert rules.owned_twice(render(target)) == []


@pytest.mark.parametrize(("target", "name"), OFFERED)
def test_what_is_offered_goes_with_all_that_the_target_has(
    target: str, name: str, render: Render, offered: Offered, catalog: Catalog
) -> None:
    together = {**render(target), name: offered(target, name)}
    objects = [obj for listed in together.values() for obj in listed]
    assert rules.owned_twice(together) == []
    assert cluster_rules.names_of_nobody(objects, catalog.inherited(target).external) == []


def test_the_pool_of_a_karpenter_of_ones_own_names_its_node_class(
    offered: Offered, render: Render, catalog: Catalog
) -> None:
    [pool] = rules.of_kind(offered("cloud-eks", "gpu-nodes"), "NodePool")
    named = mapping(pool, "spec", "template", "spec", "nodeClassRef")
    file = catalog.root / "manifests/autoscaler/karpenter-aws/node-class.yaml"
    made = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert named == {"group": made["apiVersion"].split("/")[0], "kind": made["kind"], "name": made["metadata"]["name"]}
    # All but the class, its labels, the operator's and the age of a node is Auto Mode's.
    [theirs] = rules.of_kind(render("cloud-eks-auto")["gpu-nodes"], "NodePool")
    for path in (("limits",), ("disruption",), ("template", "spec", "taints")):
        assert dig(pool, "spec", *path) == dig(theirs, "spec", *path)
    assert not mapping(pool, "spec", "template", "metadata", "labels")
    keys = {text(each, "key") for each in mappings(pool, "spec", "template", "spec", "requirements")}
    assert keys == {"karpenter.k8s.aws/instance-gpu-manufacturer", "karpenter.sh/capacity-type"}
    expiry = text(theirs, "spec", "template", "spec", "expireAfter")
    assert int(expiry.removesuffix("h")) < 21 * 24  # Auto Mode ends its instances after 21 days


@rule
def no_port_is_opened_twice(here: Here) -> list[str]:
    return rules.repeated_ports(here.objects)


@rule
def every_object_has_its_namespace(here: Here) -> list[str]:
    needed = [obj for each in here.catalog.select([here.name]) for obj in here.platform.get(each, [])]
    there = [text(ns, "metadata", "name") for ns in rules.of_kind(needed, "Namespace")]
    there += here.catalog.inherited(here.target).external.get("Namespace", ())
    return rules.homeless(here.objects, there)


@rule
def platform_namespaces_are_marked(here: Here) -> list[str]:
    return rules.unmarked_namespaces(here.objects)


@rule
def what_is_down_refuses_others_objects_in_managed_namespaces_alone(here: Here) -> list[str]:
    return rules.hooks_beyond_managed_namespaces(here.objects)


@rule
def no_api_service_keeps_namespaces_without_need(here: Here) -> list[str]:
    return rules.api_services(here.objects, API_SERVICES)


@rule
def every_controller_names_its_replicas(here: Here) -> list[str]:
    return rules.without_replicas(here.objects)


@rule
def component_yaml_names_the_crds_that_are_rendered(here: Here) -> list[str]:
    by_olm = rules.of_kind(here.objects, "Subscription")  # whose operator brings them, perhaps in a group of its own
    named = set() if by_olm else set(here.catalog.component(here.name).crds)
    # What is offered may be in place of the platform's own.
    theirs = set() if (here.target, here.name) in OFFERED else _external_crds(here.catalog, here.target)
    return sorted(rules.crds(here.objects) ^ (named - theirs))


@rule
def every_kind_comes_from_a_required_component(here: Here) -> list[str]:
    crds = {crd for needed in here.catalog.select([here.name]) for crd in here.catalog.component(needed).crds}
    groups = {crd.split(".", 1)[1] for crd in crds | _external_crds(here.catalog, here.target)}
    return rules.kinds_of_nobody(here.objects, groups)


def _external_crds(catalog: Catalog, target: str) -> set[str]:
    return set(catalog.inherited(target).external.get("CustomResourceDefinition", ()))


@pytest.mark.parametrize("target", TARGETS)
def test_the_teams_quota_is_the_targets(target: str, render: Render, catalog: Catalog) -> None:
    values = _values(catalog, target, "tenancy")
    wanted = {name: values[key] for name, key in QUOTA.items() if key in values}
    [queue] = rules.of_kind(render(target)["tenancy"], "ClusterQueue")
    flavors = [flavor for group in mappings(queue, "spec", "resourceGroups") for flavor in mappings(group, "flavors")]
    quota = {text(r, "name"): text(r, "nominalQuota") for flavor in flavors for r in mappings(flavor, "resources")}
    assert quota == wanted
    assert rules.of_kind(render(target)["tenancy"], "ConfigMap") == []


def test_kustomize_reads_the_values_of_the_targets(catalog: Catalog) -> None:
    """`make values` writes them."""
    files = values_files(catalog)
    assert set(files) == set(catalog.root.glob("overlays/*/*/values.env"))
    assert {file: file.read_text(encoding="utf-8") for file in files} == files


@pytest.mark.parametrize("target", TARGETS)
def test_values_file_of_a_target_names_only_components_that_it_has(target: str, catalog: Catalog) -> None:
    file = catalog.root / "overlays" / target / "values.yaml"
    content = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    assert set(content) <= {*catalog.available(target)}


@pytest.mark.parametrize(("target", "name"), WITH_VALUES)
def test_every_value_goes_where_it_belongs(
    target: str, name: str, catalog: Catalog, workspace: Workspace, offered: Offered
) -> None:
    if (target, name) in OFFERED:
        offered(target, name)
    for number, key in enumerate(_values(catalog, target, name)):
        value = f"{7001 + number}"
        [objects] = workspace.renderer().objects(catalog, target, [name], {name: {key: value}}).values()
        assert value in json.dumps(objects), key


def _values(catalog: Catalog, target: str, name: str) -> dict[str, str]:
    return by_component(catalog.defaults[target])[name]


@rule
def every_container_has_requests(here: Here) -> list[str]:
    return cluster_rules.silent_containers(here.objects)


@rule
def every_container_is_probed(here: Here) -> list[str]:
    return cluster_rules.unprobed_containers(here.objects, UNPROBED)


@rule
def every_namespace_has_a_pod_security_level(here: Here) -> list[str]:
    return cluster_rules.open_namespaces(here.objects, PRIVILEGED)


@rule
def pod_security_takes_every_pod(here: Here) -> list[str]:
    return cluster_rules.refused_pods(here.objects)


@rule
def no_role_may_do_everything(here: Here) -> list[str]:
    return cluster_rules.unlimited_access(here.objects, UNLIMITED)


@rule
def no_cluster_domain_is_taken_for_granted(here: Here) -> list[str]:
    return cluster_rules.domain_in_names(here.objects)


@rule
def nothing_is_published_unasked(here: Here) -> list[str]:
    return cluster_rules.published_services(here.objects)


@pytest.mark.parametrize("target", [t for t in TARGETS if "kwok" not in _CATALOG.inherited(t).leavesOut])
def test_no_daemon_set_is_pretended_on_simulated_nodes(target: str, render: Render) -> None:
    objects = [obj for listed in render(target).values() for obj in listed]
    assert len(rules.of_kind(objects, "DaemonSet")) >= 6
    assert cluster_rules.daemons_on_simulated_nodes(objects) == []


@pytest.mark.parametrize("target", TARGETS)
def test_all_that_is_named_is_there(target: str, render: Render, catalog: Catalog) -> None:
    objects = [obj for listed in render(target).values() for obj in listed]
    assert cluster_rules.names_of_nobody(objects, catalog.inherited(target).external) == []


def test_openshift_chooses_the_users(render: Render, offered: Offered) -> None:
    objects = [obj for listed in render("openshift").values() for obj in listed]
    objects += offered("openshift", "mpi-runtime")
    assert cluster_rules.fixed_users(objects, FIXED_USERS) == []
    named = " ".join(cluster_rules.fixed_users(objects, {}))
    assert all(excused in named for excused in FIXED_USERS), "an excuse that nobody needs any more"


def test_openshift_grants_one_scc(render: Render) -> None:
    grants = [grant for objects in render("openshift").values() for grant in cluster_rules.security_grants(objects)]
    assert grants == ["RoleBinding team-a/fixed-user-nonroot: system:openshift:scc:nonroot-v2"]
