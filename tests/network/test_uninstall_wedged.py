"""Controllers at zero, each alone and all together, with what waits for them: uninstall leads on, and so does install.

A cluster of its own with the profile core, so it is left to `make test-full`. All of it is real.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import pytest
from network_helpers import INSTALL_SECONDS, Cluster

from conformance.support import job_kinds
from conformance.support.jobs import job
from conformance.support.pods import sleeper
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.cluster import ApiError, Session, connect
from modelyard.local.state.layout import layout
from modelyard.objects import GroupKind, Object, ObjectRef, labels_of, number, ref_of, text
from modelyard.plan import kinds
from modelyard.plan.inventory import PART_OF_LABEL, applyset_id
from modelyard.plan.stuck import CONTROLLERS, finalizers, is_going

pytestmark = [pytest.mark.long, pytest.mark.cluster]
ENDS_WITHIN_SECONDS = 120.0
FORBIDDEN = 403
TEAM, QUEUE = "team-a", {"kueue.x-k8s.io/queue-name": "default"}
THEIRS = ObjectRef("", "ConfigMap", "default", "theirs")
HELD = (
    ObjectRef("serving.kserve.io", "InferenceService", TEAM, "model"),
    ObjectRef("workload.codeflare.dev", "AppWrapper", TEAM, "wrapper"),
)
# Each controller's component, with those that require it.
ALONE = (
    ("trainer", "mpi-runtime"),
    ("kuberay",),
    ("kserve", "modelmesh"),
    ("appwrapper",),
    ("jobset", "trainer", "mpi-runtime"),
    ("lws",),
    ("kueue", "appwrapper", "tenancy", "topology"),
)


@pytest.fixture(scope="module")
def platform() -> Iterator[Cluster]:
    cluster = Cluster("wedged")
    try:
        cluster("install", "--no-smoke", seconds=INSTALL_SECONDS)
        session = connect(layout(cluster.name).kubeconfig)
        session.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs", "namespace": "default"}})
        yield cluster
    finally:
        cluster("local", "down", "--delete", check=False)


@pytest.fixture
def session(platform: Cluster) -> Session:
    platform("install", "--no-smoke", seconds=INSTALL_SECONDS)  # what another test has taken away
    return connect(layout(platform.name).kubeconfig)


def _work() -> list[Object]:
    """Return one of every kind that a team makes; some are admitted, some wait."""
    return [
        job("job", QUEUE, runs=sleeper(cpu="10m")),
        job_kinds.job_set("set", QUEUE, {"a": 1}, cpu="10m"),
        job_kinds.leader_worker_set("group", QUEUE, size=1, cpu="10m"),
        job_kinds.train_job("train", QUEUE, nodes=1, cpu="10m"),
        job_kinds.ray_cluster("ray", QUEUE, head="10m", worker="10m"),
        job_kinds.inference_service("model", QUEUE, replicas=1, cpu="10m"),
        job_kinds.app_wrapper("wrapper", QUEUE, job("wrapped", {}, runs=sleeper(cpu="10m"))),
    ]


def _make_work(session: Session) -> None:
    team = Workspace(session, TEAM)
    for each in _work():
        wait_for(f"{each['kind']} is taken", partial(_try_to_create, team, each), lambda refused: not refused)
    for ref in HELD:
        wait_for(f"{ref} has its finalizer", partial(session.get, ref), _is_held)


def _try_to_create(team: Workspace, obj: Object) -> str:
    """Return why it was refused: a webhook that has just come back may not know yet what the object names."""
    try:
        team.create(obj)
    except ApiError as error:
        if error.code == FORBIDDEN:
            return error.message
        raise
    return ""


def _is_held(found: Object | None) -> bool:
    return bool(finalizers(found or {}))


def _scale_to_nothing(session: Session, components: set[str] | None) -> int:
    """Scale the platform's controllers to zero: those of some components, or all; return how many."""
    ids = None if components is None else {applyset_id(name) for name in components}
    scaled = []
    for kind in sorted(CONTROLLERS):
        listing = session.list(kind, label_selector=PART_OF_LABEL)
        for item in listing.items if listing else ():
            if ids is None or labels_of(item)[PART_OF_LABEL] in ids:
                session.patch(ref_of(item), {"spec": {"replicas": 0}})
                scaled.append(ref_of(item))
    for ref in scaled:
        wait_for(f"{ref} is at zero", partial(session.get, ref), _is_at_zero)
    return len(scaled)


def _is_at_zero(found: Object | None) -> bool:
    return not number(found, "status", "replicas")


def _assert_nothing_left(session: Session) -> None:
    spaces = session.list(kinds.NAMESPACE)
    assert [text(each, "metadata", "name") for each in (spaces.items if spaces else ()) if is_going(each)] == []
    for kind in sorted({kinds.CRD, *kinds.WEBHOOK_CONFIGURATIONS}):
        listing = session.list(kind, metadata_only=True)
        assert [str(ref_of(each)) for each in (listing.items if listing else ())] == []
    assert session.get(THEIRS) is not None


@pytest.mark.parametrize("components", ALONE, ids=lambda names: names[0])
def test_one_controller_at_zero_does_not_hold_up_its_component(
    components: tuple[str, ...], platform: Cluster, session: Session
) -> None:
    present = {text(item, "metadata", "name") for item in _inventories(session)}
    going = [name for name in components if f"modelyard-{name}" in present]
    _make_work(session)
    assert _scale_to_nothing(session, {going[0]})
    words = [word for name in going for word in ("--component", name)]
    began = time.monotonic()
    platform("uninstall", "--yes", "--delete-data", *words)
    assert time.monotonic() - began < ENDS_WITHIN_SECONDS
    assert session.get(THEIRS) is not None
    _clear(platform, session)


@pytest.mark.parametrize("terminating", [False, True], ids=["namespace-active", "namespace-terminating"])
def test_all_controllers_at_zero_do_not_hold_up_the_platform(
    terminating: bool, platform: Cluster, session: Session
) -> None:
    _make_work(session)
    assert _scale_to_nothing(session, None) >= 5
    if terminating:
        session.delete(ObjectRef("", "Namespace", "", TEAM))
    began = time.monotonic()
    platform("uninstall", "--yes", "--delete-data")
    assert time.monotonic() - began < ENDS_WITHIN_SECONDS
    _assert_nothing_left(session)
    platform("install", "--no-smoke", seconds=INSTALL_SECONDS)


def _inventories(session: Session) -> tuple[Object, ...]:
    listing = session.list(GroupKind("", "ConfigMap"), namespace="modelyard-system")
    return listing.items if listing else ()


def _clear(platform: Cluster, session: Session) -> None:
    """Delete the team's work, with the platform whole again."""
    platform("install", "--no-smoke", seconds=INSTALL_SECONDS)
    team = Workspace(session, TEAM)
    for each in _work():
        team.delete(ref_of(each).group_kind, ref_of(each).name)
    refs = [ObjectRef(ref.group, ref.kind, TEAM, ref.name) for ref in map(ref_of, _work())]
    for ref in refs:
        wait_for(f"{ref} is gone", partial(session.get, ref), lambda found: found is None)
