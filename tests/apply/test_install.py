"""Installing on a real control plane: apply, drift, prune, inventory, order, refusals, faults."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from apply_helpers import Events, Obj, config_map, definition, deployment, namespace, rendered, thing, write_catalogue

from modelyard.apply import Installing, StoppedError, install, preview, status
from modelyard.apply.members import parent_ref
from modelyard.cluster import ApiError, Session
from modelyard.errors import ApplyError, NotReadyError, RefusalError
from modelyard.events import discard
from modelyard.local import ClusterInfo
from modelyard.local.build.cluster_set import cluster_binaries
from modelyard.objects import ObjectRef, annotations_of, dig, labels_of, mappings, ref_of, text
from modelyard.paths import cache_dir
from modelyard.plan import inventory
from modelyard.plan.changes import Action


def the_config(own: str, name: str = "settings") -> ObjectRef:
    return ObjectRef("", "ConfigMap", own, name)


def parent(session: Session, component: str) -> Any:
    found = session.get(parent_ref(component))
    assert found is not None
    return found


def write(session: Session, obj: Any) -> None:
    """Write as another field manager does."""
    ref = ref_of(obj)
    kind = session.discovery.find(ref.group_kind)
    assert kind is not None
    answer = session.transport.send(
        "PATCH",
        kind.path(ref.namespace, ref.name),
        query={"fieldManager": "somebody"},
        body=obj,
        content_type="application/merge-patch+json",
    )
    assert answer.code == 200, answer.body


def test_a_second_install_changes_nothing(session: Session, own: str) -> None:
    item = rendered(own, namespace(own), config_map(own, "settings", a="1"))
    first = install(session, [item])
    assert [outcome.count(Action.CREATE) for outcome in first.outcomes] == [2]
    before = [session.get(the_config(own)), parent(session, own)]
    second = install(session, [item])
    assert second.outcomes[0].count(Action.UNCHANGED) == 2
    assert [session.get(the_config(own)), parent(session, own)] == before  # resourceVersions too


def test_drift_is_mended_and_what_others_added_stays(session: Session, own: str) -> None:
    item = rendered(own, namespace(own), config_map(own, "settings", a="1"))
    install(session, [item])
    write(session, config_map(own, "settings", a="2", theirs="x"))
    report = install(session, [item])
    assert report.outcomes[0].count(Action.UPDATE) == 1
    assert dig(session.get(the_config(own)), "data") == {"a": "1", "theirs": "x"}


def test_a_field_that_is_no_longer_rendered_goes(session: Session, own: str) -> None:
    install(session, [rendered(own, namespace(own), config_map(own, "settings", a="1", b="2"))])
    install(session, [rendered(own, namespace(own), config_map(own, "settings", a="1"))])
    assert dig(session.get(the_config(own)), "data") == {"a": "1"}


def test_an_object_that_is_no_longer_rendered_is_pruned(session: Session, own: str) -> None:
    keep = config_map(own, "settings")
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "x", "namespace": own}}
    install(session, [rendered(own, namespace(own), keep, {**role, "rules": []})])
    install(session, [rendered(own, namespace(own), keep)])
    assert session.get(ref_of(role)) is None
    assert session.get(ref_of(keep)) is not None
    kinds = annotations_of(parent(session, own))[inventory.GROUP_KINDS]
    assert kinds == "ConfigMap,Namespace"  # exact again


def test_the_inventory_is_as_kubectl_writes_it(
    session: Session, cluster: ClusterInfo, own: str, tmp_path: Path
) -> None:
    """kubectl's own ApplySet of the same objects has the same labels, annotations and id formula."""
    objects = [config_map(own, "settings"), config_map(own, "other")]
    install(session, [rendered(own, namespace(own), *objects)])
    ours = parent(session, own)

    twin = f"{own}-kubectl"
    manifests = tmp_path / "x.yaml"
    renamed = [{**obj, "metadata": {**obj["metadata"], "name": f"{obj['metadata']['name']}-k"}} for obj in objects]
    manifests.write_text("---\n".join(json.dumps(obj) + "\n" for obj in renamed))
    kubectl = cluster_binaries(cache_dir(), discard)[0]["kubectl"]
    subprocess.run(
        [kubectl, "apply", "-n", own, "--prune", f"--applyset=configmap/{twin}", "-f", str(manifests)],
        env={"KUBECTL_APPLYSET": "true", "HOME": str(tmp_path), "KUBECONFIG": str(cluster.kubeconfig)},
        check=True,
    )
    theirs = session.get(ObjectRef("", "ConfigMap", own, twin))
    assert theirs is not None
    assert set(annotations_of(theirs)) <= set(annotations_of(ours))
    assert annotations_of(theirs)[inventory.GROUP_KINDS] == "ConfigMap"
    assert annotations_of(ours)[inventory.GROUP_KINDS] == "ConfigMap,Namespace"
    assert annotations_of(theirs)[inventory.NAMESPACES] == ""  # those beside the parent's own
    assert annotations_of(ours)[inventory.NAMESPACES] == own
    assert annotations_of(theirs)[inventory.TOOLING].startswith("kubectl/v")
    # The id formula, on kubectl's parent.
    digest = hashlib.sha256(f"{twin}.{own}.ConfigMap.".encode()).digest()
    assert labels_of(theirs)[inventory.ID_LABEL] == f"applyset-{base64.urlsafe_b64encode(digest).decode()[:-1]}-v1"
    member = session.get(the_config(own, "settings-k"))
    assert labels_of(member)[inventory.PART_OF_LABEL] == labels_of(theirs)[inventory.ID_LABEL]
    assert labels_of(session.get(the_config(own)))[inventory.PART_OF_LABEL] == labels_of(ours)[inventory.ID_LABEL]


def test_custom_resources_follow_their_definition_in_one_run(session: Session, own: str) -> None:
    group = f"{own}.example.test"
    objects = [thing(group, own, "a"), definition(group), namespace(own)]  # in the wrong order
    install(session, [rendered(own, *objects)], timeout=180)
    assert session.get(ref_of(objects[0])) is not None


def test_components_come_after_what_they_require_and_failures_stop_only_those_that_need_them(
    session: Session, own: str, events: Events
) -> None:
    bad = {**config_map(own, "bad"), "data": {"not a key!": "x"}}
    items = [
        rendered(f"{own}-a", namespace(own)),
        rendered(f"{own}-b", bad, requires=(f"{own}-a",)),
        rendered(f"{own}-c", config_map(own, "c"), requires=(f"{own}-b",)),
        rendered(f"{own}-d", config_map(own, "d"), requires=(f"{own}-a",)),
    ]
    installing = Installing(item.name for item in items)
    with pytest.raises(ApiError) as caught:
        install(session, items, emit=events, installing=installing)
    assert [installing.reached([item.name]) for item in items[:3]] == [True, False, False]
    assert caught.value.subject == f"ConfigMap {own}/bad"
    assert caught.value.exit_code == ApplyError.exit_code
    assert session.get(the_config(own, "c")) is None
    assert session.get(the_config(own, "d")) is not None


def test_prepare_runs_before_a_component_is_applied(session: Session, own: str) -> None:
    order: list[str] = []

    def prepare(component: Any) -> None:
        order.append(component.name)
        assert session.get(ObjectRef("", "Namespace", "", own)) is None or component.name == f"{own}-b"

    items = [rendered(f"{own}-b", config_map(own, "b"), requires=(f"{own}-a",)), rendered(f"{own}-a", namespace(own))]
    install(session, items, prepare=prepare)
    assert order == [f"{own}-a", f"{own}-b"]


def test_a_crash_looping_controller_is_told_with_its_last_log_line(
    session: Session, own: str, shell: str, events: Events
) -> None:
    stop = threading.Event()
    events.on_progress = lambda detail: stop.set() if "CrashLoopBackOff: panic: no such file" in detail else None
    crashing = deployment(own, "controller", "echo starting >&2; echo 'panic: no such file' >&2; exit 1", probe="false")
    with pytest.raises(StoppedError):
        install(session, [rendered(own, namespace(own), crashing)], emit=events, timeout=120, cancelled=stop)
    (found,) = [each for each in status(session) if each.name == own]
    assert not found.ready
    assert found.reason.startswith(f"Deployment {own}/controller: 0/1 ready: container manager: ")
    assert found.reason.endswith(": panic: no such file")


def test_an_image_that_nobody_has_is_told_when_the_deadline_passes(session: Session, own: str, events: Events) -> None:
    item = rendered(own, namespace(own), deployment(own, "controller", image="test.modelyard.dev/none:1"))
    with pytest.raises(StoppedError):
        stop = events.stop_at("ErrImagePull|ImagePullBackOff")
        install(session, [item], emit=events, timeout=180, cancelled=stop)
    with pytest.raises(NotReadyError) as caught:
        install(session, [item], timeout=1)
    assert caught.value.subject == f"Deployment {own}/controller"
    assert "0/1 ready: container manager: " in caught.value.cause
    assert "ErrImagePull" in caught.value.cause or "ImagePullBackOff" in caught.value.cause
    assert "kubectl" in caught.value.remedy


@pytest.mark.usefixtures("choice")
def test_the_command_waits_no_longer_than_it_is_told(cluster: ClusterInfo, own: str, tmp_path: Path) -> None:
    never = deployment(own, "controller", image="test.modelyard.dev/none:1")
    write_catalogue(tmp_path, own, [namespace(own), never])
    command = [sys.executable, "-m", "modelyard", "install", "--target", "test", "--force-target", "--timeout", "3s"]
    done = subprocess.run(
        [*command, "--kubeconfig", str(cluster.kubeconfig)],
        env=os.environ | {"MODELYARD_ROOT": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == NotReadyError.exit_code, done.stderr
    assert f"Deployment {own}/controller: " in done.stderr
    assert "after 3 s" in done.stderr


@pytest.mark.alone
def test_an_inventory_from_another_cluster_is_a_refusal_and_nothing_changes(session: Session, own: str) -> None:
    item = rendered(own, namespace(own), config_map(own, "settings", a="1"))
    install(session, [item])
    brought = parent(session, own)
    write(session, {**brought, "metadata": _annotated(brought, {inventory.CLUSTER: "another"})})
    with pytest.raises(RefusalError, match="written in another cluster") as caught:
        install(session, [rendered(own, namespace(own), config_map(own, "other"))])
    assert caught.value.exit_code == 12
    assert session.get(the_config(own)) is not None
    assert session.get(the_config(own, "other")) is None
    write(session, {**brought, "metadata": _annotated(brought, {inventory.CLUSTER: session.cluster_id})})


def test_a_lost_inventory_prunes_nothing_and_is_written_anew_when_nothing_would_go(session: Session, own: str) -> None:
    item = rendered(own, namespace(own), config_map(own, "settings"))
    install(session, [item])
    session.delete(parent_ref(own))
    with pytest.raises(RefusalError, match="is lost"):
        install(session, [rendered(own, namespace(own), config_map(own, "other"))])
    assert session.get(the_config(own)) is not None
    assert session.get(parent_ref(own)) is None
    install(session, [item])
    assert inventory.read_parent(parent(session, own)).complete


def test_an_empty_render_is_a_refusal(session: Session, own: str) -> None:
    install(session, [rendered(own, namespace(own))])
    with pytest.raises(RefusalError, match="rendered to nothing"):
        install(session, [rendered(own)])
    assert session.get(ObjectRef("", "Namespace", "", own)) is not None


def test_another_component_s_object_is_a_refusal(session: Session, own: str) -> None:
    install(session, [rendered(f"{own}-a", namespace(own), config_map(own, "settings", owner="a"))])
    with pytest.raises(RefusalError, match=f"modelyard, component {own}-a +data.owner: a -> b"):
        install(session, [rendered(f"{own}-b", config_map(own, "settings", owner="b"))])
    assert dig(session.get(the_config(own)), "data") == {"owner": "a"}


def test_a_definition_that_holds_a_user_s_object_is_kept_by_prune(session: Session, own: str, events: Events) -> None:
    group = f"{own}.example.test"
    install(session, [rendered(own, namespace(own), definition(group))])
    session.create(thing(group, own, "precious"))
    install(session, [rendered(own, namespace(own))], emit=events)
    assert session.get(ref_of(thing(group, own, "precious"))) is not None
    assert any("kept CustomResourceDefinition" in str(event) and "precious" in str(event) for event in events.seen)
    kinds = annotations_of(parent(session, own))[inventory.GROUP_KINDS]
    assert "CustomResourceDefinition.apiextensions.k8s.io" in kinds  # still found by an uninstall


def test_a_dry_run_says_what_would_change_and_writes_nothing(session: Session, own: str) -> None:
    install(session, [rendered(own, namespace(own), config_map(own, "settings", a="1"))])
    bad: Obj = {**config_map(own, "bad"), "data": {"not a key!": "x"}}
    (found,) = preview(session, [rendered(own, namespace(own), bad)], server=True)
    assert {(change.action, change.ref.name) for change in found.changes} == {
        (Action.CREATE, "bad"),
        (Action.DELETE, "settings"),
    }
    assert [ref.name for ref, _ in found.refusals] == ["bad"]
    assert session.get(the_config(own, "bad")) is None
    assert dig(session.get(the_config(own)), "data") == {"a": "1"}


def test_readiness_rules_of_one_component_hold_for_objects_of_another(
    session: Session, own: str, events: Events
) -> None:
    group = f"{own}.example.test"
    rule = {"apiVersion": f"{group}/v1", "kind": "Thing", "current": "has(spec.up)", "failed": "has(spec.dead)"}
    owner = rendered(f"{own}-a", namespace(own), definition(group), readiness={"healthCheckExprs": [rule]})
    install(session, [owner, rendered(f"{own}-b", thing(group, own, "x", up=True), requires=(f"{own}-a",))])
    x = ref_of(thing(group, own, "x"))

    def fail(detail: str) -> None:
        if "Thing" in detail:  # it is waited for
            session.patch(x, {"spec": {"dead": True}})

    events.on_progress = fail
    with pytest.raises(NotReadyError, match="failed"):
        begun = rendered(f"{own}-b", thing(group, own, "x", begun=True), requires=(f"{own}-a",))
        install(session, [owner, begun], emit=events, timeout=60)
    assert [each.ready for each in status(session) if each.name == f"{own}-b"] == [False]


def test_status_tells_of_a_missing_object(session: Session, own: str) -> None:
    install(session, [rendered(own, namespace(own), config_map(own, "settings"))])
    assert [each.ready for each in status(session) if each.name == own] == [True]
    session.delete(the_config(own))
    (found,) = [each for each in status(session) if each.name == own]
    assert (found.ready, found.reason, found.version) == (False, f"ConfigMap {own}/settings: is not there", "v1.0.0")


def _annotated(obj: Any, notes: dict[str, str]) -> Any:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in ("managedFields", "resourceVersion")}
    return {**metadata, "annotations": {**metadata["annotations"], **notes}}


def test_managed_fields_name_us(session: Session, own: str) -> None:
    install(session, [rendered(own, namespace(own), config_map(own, "settings", a="1"))])
    managers = {
        (text(entry, "manager"), text(entry, "operation"))
        for entry in mappings(session.get(the_config(own)), "metadata", "managedFields")
    }
    assert managers == {("modelyard", "Apply")}


def test_a_controller_that_somebody_scaled_to_zero_is_not_ready_and_comes_back(
    session: Session, own: str, shell: str
) -> None:
    """Whether or not its manifest names `replicas`."""
    silent, saying = deployment(own, "silent"), deployment(own, "saying")
    saying["spec"]["replicas"] = 1
    item = rendered(own, namespace(own), silent, saying)
    install(session, [item], timeout=180)
    scale(session, ref_of(silent), 0)
    write(session, {**silent, "spec": {"replicas": 0}, "metadata": saying["metadata"]})
    (found,) = [each for each in status(session) if each.name == own]
    assert not found.ready
    assert found.reason == (
        f"Deployment {own}/saying: 0 of 0 replicas; scaled down by somebody 0 min ago. "
        f"Fix: modelyard install --component {own} (and 1 more)"
    )
    report = install(session, [item], timeout=180)
    assert report.outcomes[0].count(Action.UPDATE) == 2
    assert [each.ready for each in status(session) if each.name == own] == [True]
    assert install(session, [item]).outcomes[0].count(Action.UNCHANGED) == 3


def test_the_number_of_an_autoscaler_is_left_alone(session: Session, own: str) -> None:
    wanted = deployment(own, "scaled", image="test.modelyard.dev/none:1")
    wanted["spec"]["replicas"] = 1
    item = rendered(own, namespace(own), wanted)
    with pytest.raises(NotReadyError):  # nobody has its image
        install(session, [item], timeout=1)
    scale(session, ref_of(wanted), 3, manager="kube-controller-manager")
    changed = {**wanted, "metadata": {**wanted["metadata"], "labels": {"new": "label"}}}
    with pytest.raises(NotReadyError):
        install(session, [rendered(own, namespace(own), changed)], timeout=1)
    live = session.get(ref_of(wanted))
    assert (dig(live, "spec", "replicas"), labels_of(live)["new"]) == (3, "label")


def scale(session: Session, ref: ObjectRef, replicas: int, *, manager: str = "kubectl") -> None:
    """Scale as `kubectl scale` and autoscalers do."""
    kind = session.discovery.find(ref.group_kind)
    assert kind is not None
    answer = session.transport.send(
        "PATCH",
        f"{kind.path(ref.namespace, ref.name)}/scale",
        query={"fieldManager": manager},
        body={"spec": {"replicas": replicas}},
        content_type="application/merge-patch+json",
    )
    assert answer.code == 200, answer.body
