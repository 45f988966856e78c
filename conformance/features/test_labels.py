"""Node labels say what the nodes' kernels say of themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import pytest

from conformance.support.kinds import POD
from conformance.support.pods import container, pod_spec, states
from conformance.support.removal import Removal
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, ObjectRef, labels_of, mappings, text

pytestmark = [pytest.mark.needs("node-feature-discovery"), pytest.mark.proves("node-feature-discovery")]

NODE = GroupKind("", "Node")
RULE = GroupKind("nfd.k8s-sigs.io", "NodeFeatureRule")
PREFIX = "feature.node.kubernetes.io/"
SIMULATED = "modelyard.dev/simulated"
SAMPLE = 3  # nodes, where there are many

# /proc/cpuinfo's words and those of the labels: klauspost/cpuid names the same CPUID bits otherwise than the kernel.
VENDORS = {"GenuineIntel": "Intel", "AuthenticAMD": "AMD", "HygonGenuine": "Hygon"}
FLAGS = {
    "adx": "ADX",
    "aes": "AESNI",
    "avx": "AVX",
    "avx2": "AVX2",
    "avx512f": "AVX512F",
    "fma": "FMA3",
    "hypervisor": "HYPERVISOR",
    "sha_ni": "SHA",
    "vmx": "VMX",
}

Facts = Mapping[str, str]


def test_labels_are_what_the_kernel_says(workspace: Workspace) -> None:
    """Every label in question, on every node: one too many is as wrong as one too few.

    Seen to fail with `sources: {cpu: {cpuid: {attributeWhitelist: [AVX]}}}` in the worker's configuration (the other
    flags' labels are missing).
    """
    for node in _real_nodes(workspace.session):
        facts = _ask(workspace, text(node, "metadata", "name"))
        shown = wait_for(f"the labels of {text(node, 'metadata', 'name')}", partial(_labels, workspace, node))
        assert {name: shown.get(name, "") for name in facts} == facts


@pytest.fixture
def rule(workspace: Workspace, removal: Removal) -> Iterator[str]:
    """The name of a NodeFeatureRule, and of its labels; the rule goes with the test."""
    yield workspace.name
    removal.remove(_rule_ref(workspace.name))


def test_a_rule_labels_the_nodes_that_it_matches(workspace: Workspace, rule: str) -> None:
    """A team's own label, by what the workers have found; it goes with the rule.

    Seen to fail with Deployment nfd-master scaled to 0 (no node gets the label).
    """
    nodes = {text(node, "metadata", "name") for node in _real_nodes(workspace.session)}
    present = {"feature": "kernel.version", "matchExpressions": {"major": {"op": "Gt", "value": ["2"]}}}
    lacking = {"feature": "kernel.version", "matchExpressions": {"major": {"op": "Lt", "value": ["2"]}}}
    rules = [_rule(f"{rule}-present", present), _rule(f"{rule}-lacking", lacking)]
    workspace.session.create(
        {"apiVersion": "nfd.k8s-sigs.io/v1alpha1", "kind": RULE.kind, "metadata": {"name": rule}}
        | {"spec": {"rules": rules}}
    )
    wait_for("the nodes have the rule's label", lambda: _with_label(workspace, f"{rule}-present"), nodes.issubset)
    assert _with_label(workspace, f"{rule}-lacking") == set()
    workspace.session.delete(_rule_ref(rule))
    wait_for("the rule's label goes", lambda: _with_label(workspace, f"{rule}-present"), lambda found: not found)


def _real_nodes(session: Session) -> Sequence[Object]:
    """Return nodes on which pods really run: not those that are simulated, by us or by kwok itself."""
    listing = session.list(NODE, label_selector=f"kubernetes.io/arch=amd64,type!=kwok,!{SIMULATED}")
    assert listing is not None and listing.items, "no node that runs pods"
    return sorted(listing.items, key=lambda node: text(node, "metadata", "name"))[:SAMPLE]


def _labels(workspace: Workspace, node: Object) -> Facts:
    """Return a node's labels of this kind; none before its worker has reported."""
    found = workspace.session.get(ObjectRef("", "Node", "", text(node, "metadata", "name"))) or {}
    return {name.removeprefix(PREFIX): value for name, value in labels_of(found).items() if name.startswith(PREFIX)}


def _with_label(workspace: Workspace, name: str) -> set[str]:
    listing = workspace.session.list(NODE, label_selector=f"{PREFIX}{name}=true")
    return {text(node, "metadata", "name") for node in listing.items} if listing else set()


def _rule(label: str, feature: Object) -> Object:
    return {"name": label, "labels": {f"{PREFIX}{label}": "true"}, "matchFeatures": [feature]}


def _rule_ref(name: str) -> ObjectRef:
    return ObjectRef(RULE.group, RULE.kind, "", name)


def _ask(workspace: Workspace, node: str) -> Facts:
    """Return the labels that a node should have, by what a pod on it reads in /proc."""
    name = f"facts-{node}"[:63].rstrip("-.")
    spec = pod_spec(container(["bash", "-c", "uname -r; cat /proc/cpuinfo"])) | {"nodeName": node}
    workspace.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
    wait_for(
        f"a pod on {node} has read /proc",
        lambda: [workspace.get(POD, name)],
        lambda pods: text(pods[0], "status", "phase") == "Succeeded",
        show=lambda pods: f"{states(pods)}: {[mappings(pod, 'status', 'containerStatuses') for pod in pods]}",
    )
    return _expected(workspace.logs(name))


def _expected(said: str) -> Facts:
    release, _, cpuinfo = said.partition("\n")
    lines = cpuinfo.split("\n\n")[0].splitlines()
    cpu = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    flags = set(cpu["flags"].split())
    return {
        "kernel-version.full": release.strip(),
        "cpu-model.vendor_id": VENDORS[cpu["vendor_id"]],
        "cpu-model.family": cpu["cpu family"],
        "cpu-model.id": cpu["model"],
        **{f"cpu-cpuid.{label}": "true" if flag in flags else "" for flag, label in FLAGS.items()},
    }
