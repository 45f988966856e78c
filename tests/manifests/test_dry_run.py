"""A real API server takes every object of every target: schemas, CEL rules, defaults; an unknown field is a fault.

The CRDs of the target are installed, those that a platform brings too: OpenShift's, OLM's and those of Prometheus'
operator from their Go modules. No controller runs, so conversions are taken out of the CRDs that are installed, and no
webhook of ours is asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from modelyard.catalog import load
from modelyard.cluster import Session, connect
from modelyard.cluster.session import APPLY_PATCH
from modelyard.local import ClusterInfo
from modelyard.local.build.toolchain import find_go
from modelyard.objects import Object, ObjectRef, mapping, ref_of, text
from modelyard.paths import cache_dir, data_root
from modelyard.plan import kinds
from modelyard.readiness import assess
from modelyard.sources.gomod import download

Render = Callable[[str], Mapping[str, list[Object]]]
Offered = Callable[[str, str], list[Object]]
TARGETS = sorted(load(data_root()).targets)
SAMPLE = ("local", "openshift")  # of `make test`; the rest is left to `make test-full`
POOL = (("cloud-eks", "karpenter-aws"), ("cloud-eks", "gpu-nodes"))
OFFERED = [(target, name) for target in TARGETS for name in load(data_root()).offered(target)]
PATIENCE = 60  # times half a second

# What platforms bring. OpenShift's API has no releases: a commit.
MODULES = {
    ("github.com/openshift/api", "v0.0.0-20251214014457-bfa868a22401"): (
        "route/v1/zz_generated.crd-manifests/routes.crd.yaml",
        "security/v1/zz_generated.crd-manifests/0000_03_config-operator_01_securitycontextconstraints.crd.yaml",
    ),
    ("github.com/operator-framework/api", "v0.34.0"): (
        "crds/operators.coreos.com_operatorgroups.yaml",
        "crds/operators.coreos.com_subscriptions.yaml",
    ),
    # Of NFD's operator; OpenShift's fork of it, which no proxy has, keeps the type and renames the group.
    ("sigs.k8s.io/node-feature-discovery-operator", "v0.6.0"): (
        "config/crd/bases/nfd.kubernetes.io_nodefeaturediscoveries.yaml",
    ),
    ("github.com/openshift/cluster-autoscaler-operator", "v0.0.1-0.20241204142113-43631b045675"): (
        "install/01_clusterautoscaler.crd.yaml",
        "install/02_machineautoscaler.crd.yaml",
    ),
    ("github.com/prometheus-operator/prometheus-operator", "v0.85.0"): (
        "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
        "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
    ),
}
# OLM installs NVIDIA's operator there, with the definition that its chart has elsewhere.
BROUGHT = {"openshift": ("cloud", "gpu-operator")}
RENAMED = {"nfd.kubernetes.io": "nfd.openshift.io"}


@pytest.fixture(scope="module")
def platform_crds() -> list[Object]:
    go, cache = Path(find_go(cache_dir()).go), cache_dir() / "go" / "mod"
    folders = {download(module, version, go=go, modcache=cache): files for (module, version), files in MODULES.items()}
    return [_renamed(yaml.safe_load((folder / name).read_text())) for folder in folders for name in folders[folder]]


@pytest.fixture(scope="module")
def prepared(
    request: pytest.FixtureRequest, cluster: ClusterInfo, render: Render, offered: Offered, platform_crds: list[Object]
) -> Iterator[Session]:
    """A cluster with the CRDs and the namespaces of the targets that are asked for, taken away afterwards.

    Each CRD costs the API server a second or more, so a run of some targets has no others'.
    """
    session = connect(cluster.kubeconfig)
    targets, pairs = _asked_for(request.session.items)
    everything = [obj for target in targets for objects in render(target).values() for obj in objects]
    everything += [obj for pair in pairs for obj in _had(offered, *pair)]
    everything += [obj for target in targets for obj in _brought(render, target)]
    crds = {ref_of(crd): _without_conversion(crd) for crd in [*everything, *platform_crds] if _kind(crd) == kinds.CRD}
    namespaces = {ref_of(obj) for obj in everything if _kind(obj) == kinds.NAMESPACE}
    namespaces |= {ObjectRef("", "Namespace", "", name) for name in _platform_namespaces()}
    made = [ref for ref in [*crds, *namespaces] if session.get(ref) is None]
    for crd in crds.values():
        session.apply(crd)
        session.discovery.learn(crd)
    for ref in namespaces:
        session.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ref.name}})
    _wait_established(session, list(crds))
    yield session
    for ref in made:
        session.delete(ref)


def _asked_for(items: Sequence[pytest.Item]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the targets, and what of the offered, that the tests of this file to be run look at."""
    found = [item.callspec.params for item in items if item.path == Path(__file__) and hasattr(item, "callspec")]
    targets = {params["target"] for params in found} | {"local"}  # of the test of an unknown field
    pairs = [(params["target"], params["name"]) for params in found if "name" in params]
    named = {item.originalname for item in items if isinstance(item, pytest.Function)}
    own = POOL if test_the_api_server_takes_the_pool_of_a_karpenter_of_ones_own.__name__ in named else ()
    return sorted(targets), sorted({*pairs, *own})


def _brought(render: Render, target: str) -> list[Object]:
    """Return the definitions that a platform has from an operator, and the target does not bring."""
    if target not in BROUGHT:
        return []
    other, name = BROUGHT[target]
    return [obj for obj in render(other)[name] if _kind(obj) == kinds.CRD]


def _had(offered: Offered, target: str, name: str) -> list[Object]:
    """Return what can be had of an offered component; its own test is skipped where it cannot."""
    try:
        return offered(target, name)
    except pytest.skip.Exception:
        return []


def _platform_namespaces() -> set[str]:
    catalog = load(data_root())
    return {name for target in TARGETS for name in catalog.inherited(target).external.get("Namespace", ())}


@pytest.mark.parametrize(
    "target", [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.long) for name in TARGETS]
)
def test_the_api_server_takes_every_object(target: str, prepared: Session, render: Render) -> None:
    faults = [
        f"{name}: {fault}"
        for name, objects in render(target).items()
        for obj in objects
        if (fault := _try(prepared, obj))
    ]
    assert faults == []


@pytest.mark.parametrize(("target", "name"), [pytest.param(*pair, marks=pytest.mark.long) for pair in OFFERED])
def test_the_api_server_takes_every_object_of_what_is_offered(
    target: str, name: str, prepared: Session, offered: Offered
) -> None:
    assert [fault for obj in offered(target, name) if (fault := _try(prepared, obj))] == []


@pytest.mark.long
def test_the_api_server_takes_the_pool_of_a_karpenter_of_ones_own(prepared: Session, offered: Offered) -> None:
    offered("cloud-eks", "karpenter-aws")  # its CRD knows the labels of its provider
    assert [fault for obj in offered("cloud-eks", "gpu-nodes") if (fault := _try(prepared, obj))] == []


def test_the_api_server_refuses_an_unknown_field(prepared: Session, render: Render) -> None:
    [queue] = [obj for obj in render("local")["tenancy"] if text(obj, "kind") == "ClusterQueue"]
    assert _try(prepared, queue) == ""
    misspelt = {**queue, "spec": {**mapping(queue, "spec"), "cohortNam": "x"}}
    assert "cohortNam" in _try(prepared, misspelt)


def _try(session: Session, obj: Object) -> str:
    """Return why the API server refuses `obj`; empty where it takes it. Nothing is kept."""
    ref = ref_of(obj)
    resource = session.discovery.find(ref.group_kind)
    if resource is None:
        return f"{ref}: the cluster does not have its kind"
    path = resource.path(ref.namespace, ref.name, version=text(obj, "apiVersion").rpartition("/")[2])
    query = {"fieldManager": "modelyard", "force": "true", "dryRun": "All", "fieldValidation": "Strict"}
    answer = session.transport.send("PATCH", path, query=query, body=obj, content_type=APPLY_PATCH)
    if answer.code < 400:
        return ""
    return f"{ref}: {text(json.loads(answer.body), 'message')}"


def _wait_established(session: Session, refs: list[ObjectRef]) -> None:
    waiting = set(refs)
    for _ in range(PATIENCE):
        waiting = {ref for ref in waiting if not assess(session.get(ref) or {}).current}
        if not waiting:
            return
        session.transport.cancelled.wait(0.5)
    pytest.fail(f"not established: {', '.join(map(str, sorted(waiting)))}")


def _without_conversion(crd: Object) -> Object:
    spec = {key: value for key, value in mapping(crd, "spec").items() if key != "conversion"}
    metadata = {key: value for key, value in mapping(crd, "metadata").items() if key in ("name", "annotations")}
    return {"apiVersion": crd["apiVersion"], "kind": crd["kind"], "metadata": metadata, "spec": spec}


def _renamed(crd: Object) -> Object:
    group = text(crd, "spec", "group")
    name = f"{text(crd, 'spec', 'names', 'plural')}.{RENAMED.get(group, group)}"
    spec = {**mapping(crd, "spec"), "group": RENAMED.get(group, group)}
    return {**crd, "metadata": {**mapping(crd, "metadata"), "name": name}, "spec": spec}


def _kind(obj: Object) -> object:
    return ref_of(obj).group_kind
