"""The platform's webhooks that hold up what they judge, each with a request that it must answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.support import job_kinds as kinds
from conformance.support.images import PAUSE
from conformance.support.jobs import job
from conformance.support.pods import sleeper
from conformance.support.queues import QUEUE_LABEL
from modelyard.cluster import Session
from modelyard.objects import GroupKind, Object, dig, mappings, strings, text
from modelyard.plan.kinds import WEBHOOK_CONFIGURATIONS

CREATE = "CREATE"


@dataclass(frozen=True, slots=True)
class Hook:
    """A component's webhook.

    Args:
        component: the component.
        namespace: of its service and its certificate.
        service: the service that the apiserver asks.
        certificate: the Certificate of what the service shows.
        resource: the resource that it judges, as rules of webhooks spell it.
        makes: gives an object of that resource, to be created in a dry run.
    """

    component: str
    namespace: str
    service: str
    certificate: str
    resource: str
    makes: Callable[[], Object]

    @property
    def host(self) -> str:
        """Return the name that its certificate must be of."""
        return f"{self.service}.{self.namespace}.svc"

    def ask(self, session: Session, namespace: str) -> str:
        """Create the object in a dry run; return what is wrong, where the webhook was not asked.

        Raises:
            ApiError: it was asked and did not answer: the apiserver refuses what it cannot have judged.
        """
        made = self.makes()
        metadata = {**dict(made["metadata"]), "namespace": namespace}  # type: ignore[call-overload]
        answer = session.create({**made, "metadata": metadata}, dry_run=True)
        if self.component == "kueue" and dig(answer, "spec", "suspend") is not True:
            return "Kueue's webhook was not asked: the Job is not suspended"
        return ""

    def is_asked(self, session: Session) -> bool:
        """Tell whether the apiserver asks it for each new object of its resource, and refuses it without answer."""
        return any(_asks(hook, self) for hook in _hooks(session))


def _hooks(session: Session) -> list[Object]:
    found: list[Object] = []
    for kind in sorted(WEBHOOK_CONFIGURATIONS):
        listing = session.list(GroupKind(kind.group, kind.kind))
        for item in listing.items if listing else ():
            found += mappings(item, "webhooks")
    return found


def _asks(hook: Object, wanted: Hook) -> bool:
    service = strings(hook, "clientConfig", "service")
    return (
        (service.get("namespace"), service.get("name")) == (wanted.namespace, wanted.service)
        and text(hook, "failurePolicy") == "Fail"
        and any(
            wanted.resource in _words(rule, "resources") and CREATE in _words(rule, "operations")
            for rule in mappings(hook, "rules")
        )
    )


def _words(rule: Object, field: str) -> list[object]:
    found = rule.get(field)
    return list(found) if isinstance(found, list) else []


def _job() -> Object:
    container = {"name": "main", "image": PAUSE}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "asks", "labels": {QUEUE_LABEL: "any"}},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }


HOOKS = (
    Hook("kueue", "kueue-system", "kueue-webhook-service", "kueue-webhook", "jobs", _job),
    Hook(
        "jobset",
        "jobset-system",
        "jobset-webhook-service",
        "jobset-webhook",
        "jobsets",
        lambda: kinds.job_set("asks", {}, {"a": 1}, cpu="10m"),
    ),
    Hook(
        "lws",
        "lws-system",
        "lws-webhook-service",
        "lws-webhook",
        "leaderworkersets",
        lambda: kinds.leader_worker_set("asks", {}, size=1, cpu="10m"),
    ),
    Hook(
        "appwrapper",
        "appwrapper-system",
        "appwrapper-webhook-service",
        "appwrapper-webhook",
        "appwrappers",
        lambda: kinds.app_wrapper("asks", {}, job("inner", {}, runs=sleeper(cpu="10m"))),
    ),
    Hook(
        "trainer",
        "kubeflow-system",
        "kubeflow-trainer-controller-manager",
        "kubeflow-trainer-webhook",
        "trainjobs",
        lambda: kinds.train_job("asks", {}, nodes=1, cpu="10m"),
    ),
    Hook(
        "kserve",
        "kserve",
        "kserve-webhook-server-service",
        "serving-cert",
        "inferenceservices",
        lambda: kinds.inference_service("asks", {}, replicas=1, cpu="10m"),
    ),
    Hook(
        "kuberay",
        "ray-system",
        "kuberay-webhook-service",
        "serving-cert",
        "rayclusters",
        lambda: kinds.ray_cluster("asks", {}, head="10m", worker="10m"),
    ),
)
