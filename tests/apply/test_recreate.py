"""Fields that cannot be changed: told before the first write, with a way on; nothing that holds data ever goes.

Cases: kinds of Kubernetes' own and a custom one with a CEL rule, each with a change that a real apiserver refuses; a
change that it makes; named objects are deleted and created again; those that hold data are not, whoever names them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from apply_helpers import Events, Obj, config_map, definition, deployment, namespace, rendered

from modelyard.apply import compare_all, install, preview
from modelyard.cluster import Session
from modelyard.errors import CatalogError, NotReadyError, RefusalError
from modelyard.events import Note
from modelyard.objects import ObjectRef, dig, mappings, number, ref_of, text
from modelyard.plan.changes import Action
from modelyard.plan.desired import prepare
from modelyard.plan.inventory import applyset_id
from modelyard.plan.recreate import name_of, named

RBAC = "rbac.authorization.k8s.io"
# An object, a field of it that cannot be changed, another value for the field.
Case = tuple[Obj, tuple[str, ...], object]


def idle(own: str, kind: str, **spec: Any) -> Obj:
    """A workload that has no pods."""
    made = deployment(own, kind.lower())
    made["kind"] = kind
    made["spec"] |= spec
    made["spec"]["template"]["spec"]["nodeSelector"] = {"no": "node"}
    return made


def job(own: str, name: str = "job", **spec: Any) -> Obj:
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "test.modelyard.dev/none:1"}]}
    return plain("batch/v1", "Job", name, own, spec={"template": {"spec": pod}, **spec})


def plain(api_version: str, kind: str, name: str, ns: str = "", **fields: Any) -> Obj:
    metadata = {"name": name} | ({"namespace": ns} if ns else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata} | fields


def cases(own: str) -> list[Case]:
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"}
    labels = {"matchLabels": {"app": "other"}}
    headless = {"clusterIP": "None", "ports": [{"port": 1}], "selector": {"a": "b"}}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "no"}
    crd = definition(f"{own}.example.test")
    mode = {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
    spec = {"type": "object", "properties": {"mode": mode}}
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {"type": "object", "properties": {"spec": spec}}
    controller = {"controller": "x.test/a"}
    return [
        (crd, ("spec", "scope"), "Cluster"),
        (plain(f"{own}.example.test/v1", "Thing", "x", own, spec={"mode": "a"}), ("spec", "mode"), "b"),
        (idle(own, "Deployment", replicas=0), ("spec", "selector"), labels),
        (idle(own, "DaemonSet"), ("spec", "selector"), labels),
        (idle(own, "StatefulSet", replicas=0, serviceName="a"), ("spec", "serviceName"), "b"),
        (job(own, suspend=True), ("spec", "completionMode"), "Indexed"),
        (plain("v1", "Service", "s", own, spec=headless), ("spec", "clusterIP"), "10.96.77.77"),
        (plain(f"{RBAC}/v1", "RoleBinding", "r", own, roleRef=role), ("roleRef", "name"), "edit"),
        (plain(f"{RBAC}/v1", "ClusterRoleBinding", own, roleRef=role), ("roleRef", "name"), "edit"),
        (plain("storage.k8s.io/v1", "StorageClass", own, provisioner="x.test/a"), ("provisioner",), "x.test/b"),
        (plain("scheduling.k8s.io/v1", "PriorityClass", own, value=1), ("value",), 2),
        (plain("networking.k8s.io/v1", "IngressClass", own, spec=controller), ("spec", "controller"), "x.test/b"),
        (plain("node.k8s.io/v1", "RuntimeClass", own, handler="a"), ("handler",), "b"),
        ({**config_map(own, "fixed", a="1"), "immutable": True}, ("data", "a"), "2"),
        (plain("v1", "Secret", "typed", own, type="Opaque"), ("type",), "example.test/other"),
        (plain("v1", "PersistentVolumeClaim", "data", own, spec=claim), ("spec", "accessModes"), ["ReadWriteMany"]),
    ]


def changed(obj: Obj, path: tuple[str, ...], value: object) -> Obj:
    other = copy.deepcopy(obj)
    inner = other
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    if path == ("spec", "selector"):
        other["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    return other


@pytest.fixture
def there(session: Session, own: str) -> Iterator[list[Case]]:
    """The cases' objects, applied as an install does, without a wait for what can never be ready."""
    made = cases(own)
    session.apply(prepare(namespace(own), applyset_id(own)))
    for obj, _, _ in made:
        session.apply(prepare(obj, applyset_id(own)))
        if obj["kind"] == "CustomResourceDefinition":
            session.discovery.learn(obj)
    yield made
    for obj, _, _ in reversed(made):
        session.delete(ref_of(obj))
    session.delete(ref_of(namespace(own)))


KEPT = {"CustomResourceDefinition", "PersistentVolumeClaim"}


def test_changes_that_cannot_be_made_are_told_before_the_first_write(
    session: Session, own: str, there: list[Case]
) -> None:
    new = config_map(own, "new")
    same = [obj for obj, _, _ in there if obj["kind"] in KEPT]
    others = [case for case in there if case[0]["kind"] not in KEPT]
    with pytest.raises(RefusalError) as caught:
        compare_all(session, [rendered(own, namespace(own), new, *same, *(changed(*case) for case in others))])
    first, *rest = sorted(ref_of(obj) for obj, _, _ in others)
    assert caught.value.subject == str(first)
    assert [str(ref) for ref in rest if str(ref) not in caught.value.cause] == []
    assert caught.value.cause.endswith("; nothing was written")
    assert session.get(ref_of(new)) is None


def test_what_holds_data_is_never_deleted_for_it_whoever_names_it(
    session: Session, own: str, there: list[Case]
) -> None:
    item = rendered(own, namespace(own), *(changed(*case) for case in there))
    every = [named(name_of(ref_of(obj))) for obj, _, _ in there]
    with pytest.raises(RefusalError) as caught:
        compare_all(session, [item], recreate=every)
    kept = sorted(ref_of(obj) for obj, _, _ in there if obj["kind"] in KEPT)
    assert caught.value.subject == str(kept[0])
    assert f"(also {kept[1]})" in caught.value.cause
    assert "its data would go with it" in caught.value.remedy


def test_an_install_refuses_names_all_of_them_and_with_the_option_creates_them_again(
    session: Session, own: str, events: Events
) -> None:
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"}
    binding = plain(f"{RBAC}/v1", "RoleBinding", "r", own, roleRef=role)
    workload = idle(own, "Deployment", replicas=0)
    install(session, [rendered(own, namespace(own), binding, workload)])
    before = {ref: uid(session, ref) for ref in (ref_of(binding), ref_of(workload))}

    new = rendered(f"{own}-new", config_map(own, "new"))  # comes first, and needs nothing
    item = rendered(
        own,
        namespace(own),
        changed(binding, ("roleRef", "name"), "edit"),
        changed(workload, ("spec", "selector"), {"matchLabels": {"app": "other"}}),
    )
    with pytest.raises(RefusalError) as caught:
        install(session, [new, item])
    assert "field is immutable" in caught.value.cause
    assert f"--recreate Deployment/{own}/deployment --recreate RoleBinding/{own}/r" in caught.value.remedy
    assert session.get(ObjectRef("", "ConfigMap", own, "new")) is None  # nothing of the whole install was written

    options = [named("deployment/deployment"), named(f"RoleBinding/{own}/r")]
    found = compare_all(session, [new, item], recreate=options)
    (shown,) = [each for each in preview(session, [new, item], server=True, compared=found) if each.component == own]
    assert [change.action for change in shown.changes] == [Action.RECREATE, Action.RECREATE]
    assert shown.refusals == ()
    report = install(session, [new, item], compared=found, emit=events)
    assert sum(outcome.count(Action.RECREATE) for outcome in report.outcomes) == 2
    assert len([note for note in events.of(Note) if "is deleted and created again" in note.text]) == 2
    for ref, old in before.items():
        assert uid(session, ref) not in (old, "")
    assert dig(session.get(ref_of(binding)), "roleRef", "name") == "edit"

    again = compare_all(session, [new, item], recreate=options)  # the same command once more
    assert again.recreate == {}
    assert again.finished


def test_a_name_that_means_nothing_is_refused(session: Session, own: str) -> None:
    with pytest.raises(CatalogError, match="means no object"):
        compare_all(session, [rendered(own, namespace(own))], recreate=[named("Deployment/none")])


def test_a_job_that_failed_in_an_earlier_run_is_run_again(session: Session, own: str, events: Events) -> None:
    late = job(own, activeDeadlineSeconds=1)
    item = rendered(own, namespace(own), late)
    with pytest.raises(NotReadyError, match="failed: DeadlineExceeded"):
        install(session, [item], timeout=120)
    before = uid(session, ref_of(late))
    with pytest.raises(NotReadyError, match="failed: DeadlineExceeded"):  # it fails again, but it was tried
        install(session, [item], timeout=120, emit=events)
    assert uid(session, ref_of(late)) not in (before, "")
    assert any("it failed before: DeadlineExceeded" in note.text for note in events.of(Note))


def test_a_failure_of_an_earlier_run_gives_the_next_one_its_time(session: Session, own: str) -> None:
    slow = deployment(own, "slow", image="test.modelyard.dev/none:1")
    slow["spec"]["progressDeadlineSeconds"] = 1
    item = rendered(own, namespace(own), slow)
    with pytest.raises(NotReadyError, match="failed: 0/1 ready: ProgressDeadlineExceeded"):
        install(session, [item], timeout=120)
    _wait_until_no_progress_is_left(session, ref_of(slow))
    with pytest.raises(NotReadyError, match=r"ProgressDeadlineExceeded.* after 2 s") as caught:
        install(session, [item], timeout=2)
    assert not caught.value.cause.startswith("failed")


def _wait_until_no_progress_is_left(session: Session, ref: ObjectRef) -> None:
    """Wait until the pod is there and overdue: one made after the deadline is progress, and then fails anew."""
    for _ in range(600):
        live = session.get(ref) or {}
        reasons = [text(each, "reason") for each in mappings(live, "status", "conditions")]
        if number(live, "status", "updatedReplicas") == 1 and "ProgressDeadlineExceeded" in reasons:
            return
        session.transport.cancelled.wait(0.1)
    raise AssertionError(f"not overdue within 60 s: {reasons}")


def uid(session: Session, ref: ObjectRef) -> str:
    return text(session.get(ref), "metadata", "uid")
