"""On a real control plane: what lives already as somebody else's is refused before the first write, or adopted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from apply_helpers import (
    Obj,
    apply_as,
    config_map,
    definition,
    deployment,
    namespace,
    rendered,
    thing,
    write_catalogue,
)

from modelyard.apply import compare_all, install, members, preview
from modelyard.cluster import Session
from modelyard.errors import ApplyError, RefusalError
from modelyard.local import ClusterInfo
from modelyard.objects import Object, ObjectRef, dig, labels_of, ref_of, text
from modelyard.plan.adoption import Adoption
from modelyard.plan.changes import Action
from modelyard.plan.inventory import PART_OF_LABEL, applyset_id

Done = subprocess.CompletedProcess[str]
HELM = {"annotations": {"meta.helm.sh/release-name": "theirs"}, "labels": {"app.kubernetes.io/managed-by": "Helm"}}
ARGO = "argocd.argoproj.io/tracking-id"


def marked(obj: Obj, **metadata: Any) -> Obj:
    return {**obj, "metadata": {**obj["metadata"], **metadata}}


def theirs_is(own: str) -> Obj:
    """Return a namespace as `kubectl create namespace` writes it: this label makes it the owner of a field."""
    return marked(namespace(own), labels={"kubernetes.io/metadata.name": own})


def at_zero(obj: Obj) -> Obj:
    return {**obj, "spec": {**obj["spec"], "replicas": 0}}


def live(session: Session, obj: Obj) -> Object:
    found = session.get(ref_of(obj))
    assert found is not None
    return found


def test_all_that_is_somebody_elses_is_listed_before_anything_is_written(session: Session, own: str) -> None:
    tracked = {ARGO: f"their-app:/ConfigMap:{own}/argo"}
    apply_as(session, "kubectl-create", theirs_is(own))
    apply_as(session, "helm", marked(config_map(own, "helm", a="1"), **HELM))
    apply_as(session, "argocd-controller", marked(config_map(own, "argo"), annotations=tracked))
    apply_as(session, "kubectl-client-side-apply", at_zero(deployment(own, "manager", image="theirs:1")))
    items = [
        rendered(f"{own}-a", namespace(f"{own}-a"), config_map(f"{own}-a", "free")),
        rendered(f"{own}-b", config_map(own, "helm", a="2"), config_map(own, "argo"), config_map(own, "free")),
        rendered(f"{own}-c", namespace(own), deployment(own, "manager", image="ours:1"), requires=(f"{own}-b",)),
    ]
    with pytest.raises(RefusalError, match=r"somebody else has 4 of the objects.*nothing was written") as caught:
        install(session, items)
    rows = [" ".join(line.split()) for line in caught.value.cause.splitlines()[1:]]
    assert rows == [
        "OBJECT OWNER WOULD CHANGE",
        f"{own}-b:",
        f"ConfigMap/{own}/argo Argo CD, application their-app only modelyard's label and annotation",
        f"ConfigMap/{own}/helm Helm, release theirs data.a: 1 -> 2",
        f"{own}-c:",
        f"Namespace/{own} kubectl create only modelyard's label and annotation",
        f"Deployment/{own}/manager kubectl apply spec.template.spec.containers[manager].image: theirs:1 -> ours:1",
    ]
    assert f"--without {own}-b --without {own}-c" in caught.value.remedy
    assert session.get(ref_of(namespace(f"{own}-a"))) is None
    assert [name for name in members.read_all(session) if name.startswith(own)] == []


def test_what_is_adopted_is_as_rendered_and_stays_ours(session: Session, own: str) -> None:
    theirs = marked(config_map(own, "settings", a="1", only="theirs"), **HELM)
    theirs["metadata"]["finalizers"] = ["example.test/theirs"]
    apply_as(session, "kubectl-create", theirs_is(own))
    apply_as(session, "helm", theirs)
    apply_as(session, "some-controller", marked(config_map(own, "settings"), annotations={"example.test/seen": "1"}))
    item = rendered(own, namespace(own), config_map(own, "settings", a="2"))
    with pytest.raises(RefusalError, match=f"Namespace/{own}"):
        compare_all(session, [item], Adoption((f"ConfigMap/{own}/settings",)))
    adoption = Adoption((f"configmap/{own}/settings", f"Namespace/{own}"))
    [seen] = preview(session, [item], server=True, compared=compare_all(session, [item], adoption))
    assert [change.action for change in seen.changes] == [Action.ADOPT, Action.ADOPT]
    [outcome] = install(session, [item], compared=compare_all(session, [item], adoption)).outcomes
    assert outcome.count(Action.ADOPT) == 2
    now = live(session, theirs)
    session.patch(ref_of(theirs), {"metadata": {"finalizers": None}})
    assert dig(now, "data") == {"a": "2"}
    assert labels_of(now) == {PART_OF_LABEL: applyset_id(own)}
    assert set(dig(now, "metadata", "annotations") or ()) == {"modelyard.dev/digest", "example.test/seen"}
    assert dig(now, "metadata", "finalizers") == ["example.test/theirs"]
    before = members.read(session, own)
    assert before is not None
    assert dict(before.adopted) == {
        ref_of(theirs): "Helm, release theirs",
        ref_of(namespace(own)): "kubectl create",
    }
    [again] = install(session, [item]).outcomes
    assert again.count(Action.UNCHANGED) == 2
    assert members.read(session, own) == before


def test_a_container_of_the_former_owner_does_not_stay_beside_ours(session: Session, own: str) -> None:
    theirs = at_zero(deployment(own, "manager"))
    theirs["spec"]["template"]["spec"]["containers"][0]["name"] = "theirs"
    apply_as(session, "kubectl-create", theirs_is(own))
    apply_as(session, "kubectl", theirs)
    item = rendered(own, namespace(own), at_zero(deployment(own, "manager")))
    with pytest.raises(RefusalError, match=r"containers\[manager\]: \(none\)"):
        compare_all(session, [item])
    install(session, [item], timeout=60, compared=compare_all(session, [item], Adoption((own,))))
    containers = dig(live(session, theirs), "spec", "template", "spec", "containers")
    assert [text(each, "name") for each in containers or ()] == ["manager"]  # type: ignore[attr-defined]


def test_an_adoption_that_broke_off_goes_on_without_being_asked_for_again(session: Session, own: str) -> None:
    apply_as(session, "kubectl-create", theirs_is(own))
    for name in ("a", "z"):
        apply_as(session, "helm", config_map(own, name, by="helm"))
    good = [namespace(own), config_map(own, "a"), config_map(own, "z")]
    bad = {**config_map(own, "m"), "data": {"not a key!": "x"}}  # between both
    broken = rendered(own, *good, bad)
    with pytest.raises(ApplyError, match="not a key!"):
        install(session, [broken], compared=compare_all(session, [broken], Adoption((own,))))
    assert PART_OF_LABEL not in labels_of(live(session, good[2]))
    install(session, [rendered(own, *good)])
    assert {PART_OF_LABEL} == set(labels_of(live(session, good[2])))
    session.delete(ref_of(good[2]))  # and after it has ended, the same object made anew is theirs
    apply_as(session, "helm", config_map(own, "z", by="helm"))
    with pytest.raises(RefusalError, match=f"ConfigMap/{own}/z +Helm"):
        install(session, [rendered(own, *good)])


def test_an_object_that_moves_from_one_component_to_another_is_no_strangers(session: Session, own: str) -> None:
    shared = config_map(own, "shared")
    first = rendered(f"{own}-a", namespace(own), shared)
    second = rendered(f"{own}-b", config_map(own, "other"), requires=(f"{own}-a",))
    install(session, [first, second])
    uid = text(live(session, shared), "metadata", "uid")
    moved = [rendered(f"{own}-a", namespace(own)), rendered(f"{own}-b", shared, requires=(f"{own}-a",))]
    install(session, moved)
    assert text(live(session, shared), "metadata", "uid") == uid
    assert labels_of(live(session, shared))[PART_OF_LABEL] == applyset_id(f"{own}-b")
    assert all(outcome.count(Action.UNCHANGED) == 1 for outcome in install(session, moved).outcomes)


def test_what_kubernetes_makes_in_a_namespace_is_not_somebody_elses(session: Session, own: str) -> None:
    install(session, [rendered(f"{own}-a", namespace(own))])
    for _ in range(100):
        if session.get(ObjectRef("", "ServiceAccount", own, "default")):
            break
        session.transport.cancelled.wait(0.1)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": own}}
    item = rendered(f"{own}-b", {**account, "automountServiceAccountToken": False})
    [outcome] = install(session, [item]).outcomes
    assert outcome.count(Action.CREATE) == 1
    assert dig(live(session, account), "automountServiceAccountToken") is False


def test_a_second_install_asks_for_each_kind_once(session: Session, own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [rendered(f"{own}-{each}", namespace(f"{own}-{each}"), config_map(f"{own}-{each}", "a")) for each in "abc"]
    install(session, items)
    asked: list[str] = []
    send: Callable[..., Any] = session.transport.send

    def counted(method: str, path: str, **options: Any) -> Any:
        asked.append(f"{method} {path}")
        return send(method, path, **options)

    monkeypatch.setattr(session.transport, "send", counted)
    install(session, items)
    inventories = "/api/v1/namespaces/modelyard-system"
    assert sorted(asked) == [
        "GET /api/v1/configmaps",
        "GET /api/v1/namespaces",
        f"GET {inventories}",
        f"GET {inventories}/configmaps",
    ]
    for each in items:
        session.delete(ref_of(each.objects[0]))


def test_a_kind_whose_conversion_is_down_does_not_end_the_comparison(
    session: Session, own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = f"{own}.example.test"
    crd = definition(group)
    crd["spec"]["versions"].append({**crd["spec"]["versions"][0], "name": "v2", "storage": False})
    one = rendered(f"{own}-a", namespace(own), crd)
    converted = thing(group, own, "x") | {"apiVersion": f"{group}/v2"}
    two = rendered(f"{own}-b", converted, config_map(own, "theirs"), requires=(one.name,))
    install(session, [one, two])
    nobody = {"clientConfig": {"url": "https://127.0.0.1:1/convert"}, "conversionReviewVersions": ["v1"]}
    conversion = {"spec": {"conversion": {"strategy": "Webhook", "webhook": nobody}}}
    session.patch(ref_of(crd), conversion)
    monkeypatch.setattr(session.transport, "_patience", 1.0)  # it asks again for as long as the kind's cache begins
    try:
        for _ in range(300):  # until the apiserver's handler has heard of it
            states = compare_all(session, [one, two]).states
            if set(states) == {one.name}:
                break
            session.transport.cancelled.wait(0.1)
        assert set(states) == {one.name}
        session.patch(ref_of(config_map(own, "theirs")), {"metadata": {"labels": {PART_OF_LABEL: None}}})
        with pytest.raises(RefusalError, match=f"ConfigMap/{own}/theirs +modelyard, but without its label"):
            compare_all(session, [one, two])
    finally:
        session.patch(ref_of(crd), {"spec": {"conversion": {"strategy": "None", "webhook": None}}})
        session.delete(ref_of(crd))


@pytest.mark.usefixtures("choice")
def test_the_command_and_its_dry_run_show_the_same_table(
    session: Session, cluster: ClusterInfo, tmp_path: Path, own: str
) -> None:
    write_catalogue(tmp_path, own, [namespace(own), config_map(own, "a", b="1")])
    apply_as(session, "kubectl-create", theirs_is(own))

    def run(*arguments: str, command: Sequence[str] = ("install", "--target", "test", "--force-target")) -> Done:
        where = ["--kubeconfig", str(cluster.kubeconfig)]
        return subprocess.run(
            [sys.executable, "-m", "modelyard", *command, *where, *arguments],
            input="n\n",
            env=os.environ | {"MODELYARD_ROOT": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    done = [run("--dry-run", "client"), run()]
    assert [each.returncode for each in done] == [12, 12], done
    said = [each.stderr[each.stderr.index("error: ") :] for each in done]  # before it: who else was at work
    assert said[0] == said[1]
    assert f"Namespace/{own}  kubectl create" in done[0].stderr
    assert session.get(ObjectRef("", "ConfigMap", "modelyard-system", "choice")) is None
    wrong = run("--adopt", "Namespace/else", "--dry-run", "client")
    assert (wrong.returncode, "names nothing that is to be installed" in wrong.stderr) == (3, True), wrong.stderr
    would = run("--adopt", f"Namespace/{own}", "--dry-run", "client")
    assert f"{own}: adopt Namespace {own}" in would.stdout, would.stderr
    adopted = run("--adopt", own)
    assert adopted.returncode == 0, adopted.stderr
    assert run().returncode == 0
    asked = run(command=("uninstall", "--component", own))
    assert "1 of them were adopted, and somebody else's before: kubectl create" in asked.stderr
    live(session, namespace(own))
