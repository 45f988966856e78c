"""team-a as one of its members has it: every request is made with the rights of the group team-a, and no others.

The breaks that the docstrings name have not been seen yet.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping

import pytest

from conformance.support.jobs import job
from conformance.support.kinds import CLUSTER_QUEUE, JOB, LOCAL_QUEUE, POD, PRIORITY_CLASS, SERVICE_ACCOUNT
from conformance.support.pods import container
from conformance.support.queues import API, PRIORITY_LABEL
from conformance.support.removal import Removal
from conformance.support.waiting import wait_for
from conformance.support.workloads import wait_until, wait_until_held, workload_of
from conformance.support.workspace import Workspace
from modelyard.cluster import ApiError, Session
from modelyard.objects import Object, ObjectRef, mapping, mappings, number, text

pytestmark = [pytest.mark.needs("tenancy"), pytest.mark.proves("tenancy")]

TEAM = "team-a"  # its namespace, its group and its ClusterQueue
PRIORITIES = {"low": 100, "default": 1000, "high": 10000}
# No cluster has them: whatever the others of the cohort leave unused, this waits.
TOO_MUCH = "1000000"
RBAC = "rbac.authorization.k8s.io"
# verb, API group, resource; in the team's namespace
MAY = [
    ("create", "batch", "jobs"),
    ("create", "jobset.x-k8s.io", "jobsets"),
    ("create", "ray.io", "rayjobs"),
    ("create", "trainer.kubeflow.org", "trainjobs"),
    ("create", "serving.kserve.io", "inferenceservices"),
    ("create", "", "secrets"),
    ("create", "", "configmaps"),
    ("get", "", "pods/log"),
    ("list", "kueue.x-k8s.io", "localqueues"),
    ("list", "kueue.x-k8s.io", "workloads"),
]
# verb, API group, resource, namespace
MAY_NOT = [
    ("get", "", "secrets", "kueue-system"),
    ("list", "", "secrets", ""),
    ("list", "", "pods", "kueue-system"),
    ("create", "", "pods", "default"),
    ("create", "", "namespaces", ""),
    ("delete", "", "namespaces", TEAM),
    ("delete", "", "nodes", ""),
    ("patch", "apps", "deployments", "kueue-system"),
    ("patch", "", "limitranges", TEAM),
    ("create", RBAC, "rolebindings", TEAM),
    ("create", RBAC, "clusterrolebindings", ""),
    ("create", "kueue.x-k8s.io", "clusterqueues", ""),
    ("patch", "kueue.x-k8s.io", "clusterqueues", ""),
    ("create", "kueue.x-k8s.io", "resourceflavors", ""),
    ("create", "kueue.x-k8s.io", "cohorts", ""),
    ("create", "kueue.x-k8s.io", "workloadpriorityclasses", ""),
    ("create", "kueue.x-k8s.io", "localqueues", TEAM),
    ("patch", "kueue.x-k8s.io", "localqueues", TEAM),
    ("create", "scheduling.k8s.io", "priorityclasses", ""),
    ("create", "apiextensions.k8s.io", "customresourcedefinitions", ""),
    ("create", "admissionregistration.k8s.io", "validatingwebhookconfigurations", ""),
    ("impersonate", "", "groups", ""),
]


@pytest.fixture
def member(session: Session) -> Workspace:
    """The team's namespace, in the hands of a member."""
    return Workspace(Session(session.transport.acting_for("conformance-member", TEAM)), TEAM)


@pytest.fixture
def submit(member: Workspace, removal: Removal) -> Iterator[Callable[..., str]]:
    """Create Jobs as the member does, without naming a queue; return their names."""
    made: list[str] = []

    def submitted(labels: Mapping[str, str] | None = None, *, runs: Object) -> str:
        made.append(f"conformance-{secrets.token_hex(3)}")
        member.create(job(made[-1], labels or {}, runs=runs))
        return made[-1]

    yield submitted
    for name in made:
        removal.remove(ObjectRef(JOB.group, JOB.kind, TEAM, name))


def test_a_job_without_a_queues_name_goes_through_the_teams_queue(
    member: Workspace, submit: Callable[..., str]
) -> None:
    """Must fail with LocalQueue team-a/default deleted (the job runs past the queue: it has no Workload)."""
    name = submit(runs=container(["echo", "done by a member"]))
    wait_until(member, name, "Admitted")
    assert text(workload_of(member, name), "status", "admission", "clusterQueue") == TEAM
    wait_for("the job succeeds", lambda: number(member.get(JOB, name), "status", "succeeded"))
    [pod] = member.pods(f"batch.kubernetes.io/job-name={name}")
    assert member.logs(text(pod, "metadata", "name")) == "done by a member\n"


def test_a_job_beyond_the_quota_waits(member: Workspace, submit: Callable[..., str]) -> None:
    """Must fail with `cpu` taken out of ClusterQueue team-a's quota and covered resources."""
    name = submit(runs=container(["true"], cpu=TOO_MUCH))
    wait_until_held(member, name)
    assert member.pods(f"batch.kubernetes.io/job-name={name}") == []


def test_a_container_that_requests_nothing_counts_in_the_quota(member: Workspace, submit: Callable[..., str]) -> None:
    """Must fail with LimitRange team-a/default-requests deleted: the Workload counts no CPU."""
    name = submit(runs={**container(["true"]), "resources": {}})
    admitted = wait_until(member, name, "Admitted")
    [pods] = mappings(admitted, "status", "admission", "podSetAssignments")
    assert mapping(pods, "resourceUsage") == {"cpu": "100m", "memory": "128Mi"}


@pytest.mark.parametrize("priority", ["low", "high"])
def test_a_priority_of_the_platforms_is_the_workloads(
    member: Workspace, submit: Callable[..., str], priority: str
) -> None:
    """Must fail with another value in WorkloadPriorityClass `priority`."""
    name = submit({PRIORITY_LABEL: priority}, runs=container(["true"], cpu=TOO_MUCH))
    assert number(wait_until_held(member, name), "spec", "priority") == PRIORITIES[priority]


def test_a_member_sees_what_there_is_to_choose_from(member: Workspace) -> None:
    """Must fail with ClusterRoleBinding modelyard-team-a-sees-choices deleted (forbidden)."""
    listing = member.session.list(PRIORITY_CLASS)
    assert listing is not None
    found = {text(each, "metadata", "name"): number(each, "value") for each in listing.items}
    assert PRIORITIES.items() <= found.items()
    assert TEAM in [text(each, "spec", "clusterQueue") for each in member.list(LOCAL_QUEUE)]  # and what components add


@pytest.mark.parametrize(("verb", "group", "resource"), MAY)
def test_a_member_may(member: Workspace, verb: str, group: str, resource: str) -> None:
    """Must fail with the team's RoleBindings deleted."""
    assert _may(member, verb, group, resource, TEAM)


@pytest.mark.parametrize(("verb", "group", "resource", "namespace"), MAY_NOT)
def test_a_member_may_not(member: Workspace, verb: str, group: str, resource: str, namespace: str) -> None:
    """Must fail with the group bound to cluster-admin."""
    assert not _may(member, verb, group, resource, namespace)


def test_what_a_member_may_not_is_refused(member: Workspace) -> None:
    """The requests themselves, not only what the apiserver says that it would do with them; none of them would stay."""
    queue = {"apiVersion": API, "kind": CLUSTER_QUEUE.kind, "metadata": {"name": "conformance-members-own"}, "spec": {}}
    with pytest.raises(ApiError, match="forbidden"):
        member.session.create(queue)
    with pytest.raises(ApiError, match="forbidden"):
        member.session.list(SERVICE_ACCOUNT, namespace="kueue-system")
    with pytest.raises(ApiError, match="forbidden"):
        member.session.list(POD)


def _may(member: Workspace, verb: str, group: str, resource: str, namespace: str) -> bool:
    """Ask the apiserver what the member's rights say (SelfSubjectAccessReview)."""
    name, _, sub = resource.partition("/")
    attributes = {"verb": verb, "group": group, "resource": name, "subresource": sub, "namespace": namespace}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    answer = member.session.create({**review, "metadata": {}, "spec": {"resourceAttributes": attributes}})
    return mapping(answer, "status").get("allowed") is True
