"""On a real control plane where others run what the platform brings: Kueue, cert-manager, KEDA, metrics-server.

Each is applied first as its owner would: upstream's objects as target `cloud` renders them, with an image of another
version, by the owner's field manager and with its marks. No controller runs, so webhooks and APIServices, which would
then refuse everything, are left out, conversions too, and Deployments have no pods. The cluster is the test's own, as
other tests install the same definitions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from modelyard.apply import Rendered, compare_all, install
from modelyard.apply.provided import provided
from modelyard.catalog import Catalog
from modelyard.cluster import Session, connect
from modelyard.cluster.session import APPLY_PATCH
from modelyard.errors import RefusalError
from modelyard.local import ClusterInfo, ClusterSpec, down
from modelyard.local.build.toolchain import find_go
from modelyard.objects import Object, annotations_of, labels_of, mapping, ref_of, text
from modelyard.paths import cache_dir
from modelyard.plan import kinds
from modelyard.plan.adoption import Adoption
from modelyard.plan.changes import Action
from modelyard.plan.kinds import is_custom
from modelyard.sources.gomod import download

Render = Callable[[str], Mapping[str, list[Object]]]
NAME = "occupied"
HELM = {"meta.helm.sh/release-name": "theirs", "meta.helm.sh/release-namespace": "tools"}
OWNERS = {
    "kueue": ("helm", HELM, "Helm, release theirs"),
    "cert-manager": ("kubectl-client-side-apply", {}, "kubectl apply"),
    "keda": ("argocd-controller", {}, "Argo CD, application tools"),
    "metrics-server": ("eks", {}, "an add-on of EKS"),
}
PROMETHEUS = ("github.com/prometheus-operator/prometheus-operator", "v0.85.0")


class _Loader(yaml.SafeLoader):
    """Takes a plain `=` for a text, as Kubernetes does; YAML 1.1, which PyYAML reads, has a type of its own for it."""


_Loader.add_constructor("tag:yaml.org,2002:value", yaml.SafeLoader.construct_yaml_str)


@pytest.fixture(scope="module")
def session(bring: Callable[..., ClusterInfo]) -> Iterator[Session]:
    yield connect(bring(ClusterSpec(name=NAME)).kubeconfig)
    down(NAME, delete=True)


@pytest.fixture
def ours(render: Render, catalog: Catalog) -> Callable[[str], Rendered]:
    """Return what of a component can be installed without its images."""

    def of(name: str) -> Rendered:
        target = "cloud" if name in render("cloud") else "kind"
        objects = [_quiet(obj) for obj in render(target)[name] if _passive(obj)]
        return Rendered(catalog.component(name), catalog.version(name), target, tuple(objects))

    return of


def _passive(obj: Object) -> bool:
    """Tell whether an object does nothing without a controller, and waits for none."""
    return ref_of(obj).group_kind not in kinds.EXTENSIONS and not is_custom(ref_of(obj).group_kind)


def _quiet(obj: Object) -> Object:
    if ref_of(obj).group_kind == kinds.CRD:
        return {**obj, "spec": {key: value for key, value in mapping(obj, "spec").items() if key != "conversion"}}
    return {**obj, "spec": {**mapping(obj, "spec"), "replicas": 0}} if text(obj, "kind") == "Deployment" else obj


def theirs(obj: Object, name: str) -> Object:
    """Return an object as another team's manager has it."""
    _, marks, _ = OWNERS[name]
    ref = ref_of(obj)
    if name == "keda":
        marks = {"argocd.argoproj.io/tracking-id": f"tools:{ref.group}/{ref.kind}:{ref.namespace}/{ref.name}"}
    metadata = {**mapping(obj, "metadata"), "annotations": {**annotations_of(obj), **marks}}
    metadata["labels"] = {**labels_of(obj), "example.test/theirs": "yes"}
    return json.loads(json.dumps({**obj, "metadata": metadata}).replace('"image": "', '"image": "theirs.example/'))  # type: ignore[no-any-return]


def put(session: Session, manager: str, obj: Object) -> None:
    ref = ref_of(obj)
    resource = session.discovery.find(ref.group_kind)
    assert resource is not None, ref
    query = {"fieldManager": manager, "force": "true"}
    path = resource.path(ref.namespace, ref.name)
    answer = session.transport.send("PATCH", path, query=query, body=obj, content_type=APPLY_PATCH)
    assert answer.code < 300, answer.body


def occupy(session: Session, name: str, item: Rendered) -> None:
    first = (kinds.NAMESPACE, kinds.CRD)
    for obj in sorted(item.objects, key=lambda each: ref_of(each).group_kind not in first):
        put(session, OWNERS[name][0], theirs(obj, name))


@pytest.mark.long
@pytest.mark.parametrize("name", OWNERS)
def test_somebody_elses_is_refused_as_a_whole_left_out_or_adopted(
    name: str, session: Session, ours: Callable[[str], Rendered], catalog: Catalog
) -> None:
    item = ours(name)
    occupy(session, name, item)
    with pytest.raises(RefusalError) as caught:
        compare_all(session, [item])
    rows = [line for line in caught.value.cause.splitlines() if OWNERS[name][2] in line]
    assert len(rows) == len(item.objects), caught.value.cause
    assert f"--without {name}" in caught.value.remedy
    assert "containers[" in caught.value.cause
    definitions = [obj for obj in item.objects if ref_of(obj).group_kind == kinds.CRD]
    assert provided(session, {name: definitions}) == ({name} if definitions else set())

    compared = compare_all(session, [item], Adoption((name,)))
    passive = [obj for obj in item.objects if ref_of(obj).group_kind not in kinds.WORKLOADS]
    adopted = Rendered(item.component, item.version, item.target, tuple(passive))
    [outcome] = install(
        session, [adopted], timeout=120, compared=compare_all(session, [adopted], Adoption((name,)))
    ).outcomes
    assert outcome.count(Action.ADOPT) == len(passive)
    assert set(compared.adopted.values()) == {OWNERS[name][2]}
    for obj in passive:
        now = session.get(ref_of(obj))
        assert "example.test/theirs" not in labels_of(now), ref_of(obj)
        assert not {*annotations_of(now)} & {*HELM, "argocd.argoproj.io/tracking-id"}, ref_of(obj)
    [again] = install(session, [adopted]).outcomes
    assert again.count(Action.UNCHANGED) == len(passive)


@pytest.mark.long
def test_a_cert_manager_without_the_platforms_issuers_is_not_enough(
    session: Session, ours: Callable[[str], Rendered], render: Render
) -> None:
    for obj in ours("cert-manager").objects:
        if ref_of(obj).group_kind in (kinds.NAMESPACE, kinds.CRD):
            put(session, "kubectl", obj)
    with pytest.raises(RefusalError, match=r"what is there instead lacks .*ClusterIssuer modelyard-ca"):
        provided(session, {"cert-manager": render("cloud")["cert-manager"]})


@pytest.mark.long
@pytest.mark.parametrize("target", ["cloud", "openshift"])
def test_prometheus_operator_has_nothing_that_the_platform_would_install(target: str, render: Render) -> None:
    """It is no component: its definitions, and the other objects of its bundle, have names of their own."""
    module, version = PROMETHEUS
    folder = download(module, version, go=Path(find_go(cache_dir()).go), modcache=cache_dir() / "go" / "mod")
    bundle = [each for each in yaml.load_all((folder / "bundle.yaml").read_text(), Loader=_Loader) if each]
    theirs = {ref_of(obj) for obj in bundle}
    assert {ref.name for ref in theirs} >= {"prometheus-operator", "servicemonitors.monitoring.coreos.com"}
    assert theirs & {ref_of(obj) for objects in render(target).values() for obj in objects} == set()
