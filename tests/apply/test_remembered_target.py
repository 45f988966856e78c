"""On a real control plane: an install holds to the target that the cluster remembers.

The shared cluster is an embedded one. Where a test is about another kind of cluster, the mark is looked for under
another name, so it is not there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from apply_helpers import ABOUT, config_map, namespace

from modelyard import apply
from modelyard.apply import aim
from modelyard.catalog.choice import Choice
from modelyard.cli import main as group
from modelyard.cluster import Session
from modelyard.errors import ModelyardError, RefusalError
from modelyard.local import ClusterInfo, ClusterSpec
from modelyard.objects import ObjectRef
from modelyard.plan import embedded
from modelyard.plan.aim import Aim

Install = Callable[..., None]
Bring = Callable[..., ClusterInfo]
pytestmark = pytest.mark.usefixtures("choice")


@pytest.fixture
def root(tmp_path: Path, own: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalogue of one component and of the targets one, two and local."""
    objects = (namespace(own), config_map(own, "a"))
    files = {
        "upstream.lock": "upstreams: {}\n",
        f"manifests/cluster/{own}/component.yaml": f"name: {own}\n{ABOUT}",
        f"manifests/cluster/{own}/kustomization.yaml": "resources: [all.yaml]\n",
        f"manifests/cluster/{own}/all.yaml": "---\n".join(json.dumps(each) + "\n" for each in objects),
        "site/target.yaml": f"name: site\nsummary: x\nbase: one\nprofiles: {{core: [{own}]}}\n",
        "site/kustomization.yaml": f"resources: [../overlays/one/{own}]\n",
    }
    for target in ("one", "two", "local"):
        files[f"overlays/{target}/{own}/kustomization.yaml"] = f"resources: [../../../manifests/cluster/{own}]\n"
        files[f"overlays/{target}/target.yaml"] = f"name: {target}\nsummary: x\nprofiles: {{core: [{own}]}}\n"
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.setenv("MODELYARD_ROOT", str(tmp_path))
    return tmp_path


@pytest.fixture
def install(root: Path, cluster: ClusterInfo) -> Install:
    """Run the command here, against the shared cluster by its kubeconfig."""
    where = ["--kubeconfig", str(cluster.kubeconfig)]
    return lambda *arguments: group(["install", *where, *arguments], standalone_mode=False)


@pytest.fixture
def unmarked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aim, "MARK", ObjectRef("", "ConfigMap", "kube-system", "no-such-mark"))


def target_of(session: Session) -> str:
    choice = apply.read_choice(session)
    return choice.target if choice is not None else ""


@pytest.mark.usefixtures("unmarked")
def test_another_target_is_refused_and_none_is_the_remembered_one(
    install: Install, session: Session, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("--target", "one", "--force-target")  # other tests' inventories are in this cluster
    assert target_of(session) == "one"
    for arguments in (("--target", "two"), ("--target", "two", "--dry-run", "client")):
        with pytest.raises(RefusalError, match=r"was installed for target one, and .* is for two") as caught:
            install(*arguments)
        assert "--force-target" in caught.value.remedy
    capsys.readouterr()
    install()
    install("--dry-run", "client")
    said = capsys.readouterr()
    assert "note  target one, as before" in said.err
    assert "0 changes in 1 components" in said.out
    install("--target", "two", "--force-target")
    assert target_of(session) == "two"
    with pytest.raises(RefusalError, match=r"was installed for target two, and .* is for site on one"):
        install("--overlay", str(root / "site"))


@pytest.mark.usefixtures("unmarked")
def test_an_overlay_is_remembered_by_the_target_it_is_on(install: Install, session: Session, root: Path) -> None:
    install("--overlay", str(root / "site"), "--force-target")
    install("--overlay", str(root / "site"))
    with pytest.raises(RefusalError, match="is what this cluster was installed with, and is not named now"):
        install()
    install("--no-overlay")
    assert (target_of(session), apply.read_choice(session)) == ("one", Choice(target="one"))


@pytest.mark.usefixtures("unmarked")
@pytest.mark.parametrize("more", [(), ("--force-target",), ("--dry-run", "client"), ("--dry-run", "server")])
def test_local_is_refused_off_embedded_clusters_before_it_is_rendered(
    install: Install, root: Path, own: str, more: tuple[str, ...]
) -> None:
    (root / f"overlays/local/{own}/kustomization.yaml").write_text("resources: [no-such-file.yaml]\n")
    with pytest.raises(RefusalError, match="is not an embedded cluster") as caught:
        install("--target", "local", *more)
    assert "--force-target does not help" in caught.value.remedy


def test_an_embedded_cluster_refuses_other_targets(install: Install, session: Session, cluster: ClusterInfo) -> None:
    apply.keep_choice(session, Choice(target="one"))
    with pytest.raises(RefusalError, match=f"is the embedded cluster {cluster.name}") as caught:
        install("--target", "one", "--dry-run", "client")
    assert f"modelyard install --name {cluster.name}" in caught.value.remedy
    install("--target", "one", "--dry-run", "client", "--force-target")


def test_up_marks_the_cluster_also_where_an_earlier_version_made_it(
    session: Session, bring: Bring, cluster: ClusterInfo
) -> None:
    assert embedded.embedded_name(session.get(embedded.REF), cluster=session.cluster_id) == cluster.name
    session.delete(embedded.REF)
    local = Aim(("local",), "local", False)
    apply.keep_choice(session, Choice(target="local"))
    with pytest.raises(RefusalError, match="is not an embedded cluster"):
        apply.refuse_other_target(session, local)
    apply.refuse_other_target(session, local, embedded=cluster.name)  # by its name it is known all the same
    bring(ClusterSpec(name=cluster.name))
    apply.refuse_other_target(session, local)


@pytest.mark.usefixtures("unmarked")
@pytest.mark.parametrize(
    ("inventories", "said"),
    [((), "remembers no target"), (("kind", "openshift"), "of several targets: kind, openshift")],
)
def test_where_nothing_is_remembered_a_target_has_to_be_named(
    session: Session, monkeypatch: pytest.MonkeyPatch, inventories: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr(aim.aim, "remembered", lambda choice, found: inventories)  # other tests' are there
    with pytest.raises(RefusalError, match=said) as caught:
        apply.remembered_target(session)
    assert "--target" in caught.value.remedy


@pytest.mark.long
def test_what_is_remembered_is_of_one_cluster_alone(
    install: Install, session: Session, bring: Bring, root: Path, tmp_path: Path
) -> None:
    """A kubeconfig that leads to another cluster between two runs."""
    install("--target", "one", "--force-target")
    other = bring(ClusterSpec(name="other"))
    moving = tmp_path / "kubeconfig"
    moving.write_text(Path(other.kubeconfig).read_text())
    arguments = ["install", "--kubeconfig", str(moving)]
    with pytest.raises(ModelyardError):  # `local` is this one's: nothing is known here of target one
        group([*arguments, "--target", "two", "--dry-run", "client"], standalone_mode=False)
    group([*arguments, "--target", "local"], standalone_mode=False)
    assert target_of(session) == "one"
