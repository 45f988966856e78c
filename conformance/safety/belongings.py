"""What somebody has in a namespace that has nothing to do with the platform: one object of each common kind."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping

from conformance.support.images import PAUSE
from modelyard.cluster import Session
from modelyard.errors import ModelyardError
from modelyard.objects import Object, ref_of

# The most that a request may take while a controller of the platform is down. A webhook that does not answer takes 10 s
# or more each time; a busy machine may be slow once, so the quickest of some tries counts.
SECONDS = 2.0
TRIES = 3

_LABELS = {"app": "belonging"}
_POD: Object = {
    "terminationGracePeriodSeconds": 0,
    "containers": [{"name": "main", "image": PAUSE, "imagePullPolicy": "IfNotPresent"}],
}
_ONCE = {"template": {"spec": {**_POD, "restartPolicy": "Never"}}}
_LASTING = {"selector": {"matchLabels": _LABELS}, "template": {"metadata": {"labels": _LABELS}, "spec": _POD}}
_BACKEND = {"service": {"name": "belonging", "port": {"number": 80}}}
_PATH = {"path": "/", "pathType": "Prefix", "backend": _BACKEND}

SPECS: Mapping[tuple[str, str], Mapping[str, object]] = {
    ("v1", "Pod"): {"spec": _POD},
    ("apps/v1", "Deployment"): {"spec": _LASTING},
    ("apps/v1", "StatefulSet"): {"spec": {**_LASTING, "serviceName": "belonging"}},
    ("apps/v1", "DaemonSet"): {"spec": _LASTING},
    ("batch/v1", "Job"): {"spec": _ONCE},
    ("batch/v1", "CronJob"): {"spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": _ONCE}}},
    ("v1", "ConfigMap"): {"data": {"a": "b"}},
    ("v1", "Secret"): {"stringData": {"a": "b"}},
    ("v1", "Service"): {"spec": {"selector": _LABELS, "ports": [{"port": 80}]}},
    ("networking.k8s.io/v1", "Ingress"): {"spec": {"rules": [{"host": "a.example", "http": {"paths": [_PATH]}}]}},
    ("v1", "PersistentVolumeClaim"): {
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
    },
    ("v1", "ServiceAccount"): {},
    ("v1", "Namespace"): {},
}


def held_up(session: Session, namespace: str) -> list[str]:
    """Create, change and delete an object of each kind; return what was refused or took too long, one line each.

    Args:
        session: the cluster.
        namespace: where; of the kind Namespace, the begin of its name.
    """
    return [fault for (version, kind) in SPECS for fault in _of_kind(session, version, kind, namespace)]


def _of_kind(session: Session, version: str, kind: str, namespace: str) -> list[str]:
    faults: list[str] = []
    for _ in range(TRIES):
        faults = list(_once(session, _object(version, kind, namespace)))
        if not faults:
            break
    return faults


def _once(session: Session, obj: Object) -> Iterator[str]:
    """Ask for one object's whole life."""
    ref = ref_of(obj)
    requests: Mapping[str, Callable[[], object]] = {
        "creating": lambda: session.create(obj),
        "changing": lambda: session.patch(ref, {"metadata": {"annotations": {"changed": "yes"}}}),
        "deleting": lambda: session.delete(ref),
    }
    for verb, request in requests.items():
        began = time.monotonic()
        try:
            request()
        except ModelyardError as error:
            yield f"{verb} {ref}: {error}"
        else:
            if (seconds := time.monotonic() - began) > SECONDS:
                yield f"{verb} {ref} took {seconds:.1f} s"


def _object(version: str, kind: str, namespace: str) -> Object:
    end = secrets.token_hex(3)  # one that is still going is nobody's fault
    where = {"name": f"b-{end}", "namespace": namespace} if kind != "Namespace" else {"name": f"{namespace}-{end}"}
    return {"apiVersion": version, "kind": kind, "metadata": {**where, "labels": _LABELS}, **SPECS[version, kind]}
