"""The smoke job: one RayJob through the first team's queue, whose result is checked.

The job is examples/smoke, as a user would apply it. It says that Kueue admits, KubeRay starts a cluster, pods run
and reach each other by name, and that a result comes back.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from modelyard.apply.run import stopped
from modelyard.cluster import Session, Watcher, connect
from modelyard.errors import NotReadyError
from modelyard.events import Emit, StepProgress
from modelyard.objects import GroupKind, Object, ObjectRef, dig, ref_of, text
from modelyard.paths import data_root
from modelyard.readiness.containers import pod_trouble
from modelyard.steps import step

STEP = "smoke"
PRIMES_BELOW = {200_000: 17_984}
_CANCEL_SECONDS = 1.0  # within which `cancelled` is noticed
_RAY_JOB = GroupKind("ray.io", "RayJob")
_POD = GroupKind("", "Pod")
_RESULT = re.compile(r"^RESULT (\{.*\})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SmokeResult:
    """What the smoke job said.

    Args:
        primes: how many primes it counted.
        limit: below which number.
        tasks: by how many Ray tasks.
        compute_seconds: how long the counting took.
        queued_seconds: from creation until Kueue admitted it.
        seconds: from creation to the checked result.
    """

    primes: int
    limit: int
    tasks: int
    compute_seconds: float
    queued_seconds: float
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.primes:,} primes below {self.limit:,}, counted by {self.tasks} Ray tasks in "
            f"{self.compute_seconds:.1f} s; admitted after {self.queued_seconds:.1f} s, "
            f"result after {self.seconds:.1f} s"
        )


# Waits for the job's end; None where it was not asked for, is not possible, or passed before.
Outcome = Callable[[], SmokeResult | None]


def run(
    kubeconfig: Path,
    emit: Emit,
    *,
    timeout: float = 300,
    cancelled: threading.Event | None = None,
    gone: threading.Event | None = None,
) -> SmokeResult:
    """Run the smoke job, check its result and remove it.

    Args:
        kubeconfig: of the cluster to run it on.
        emit: receives the step `smoke`, its progress and its result.
        timeout: seconds until the job must have ended.
        cancelled: set it to give up, and remove the job.
        gone: set it when the cluster has ended: then nothing is removed, and no answer is waited for.

    Raises:
        StoppedError: `cancelled` was set.
        NotReadyError: the job failed, gave another result, or did not end in time.
        ClusterUnreachableError: no apiserver answers.
    """
    session = connect(kubeconfig)
    session.transport.cancelled = gone or session.transport.cancelled
    with step(emit, STEP, "run a job through the queue") as finish:
        result = _run(session, _objects(), emit, timeout, cancelled or threading.Event())
        finish(str(result))
    return result


def parse_result(log: str) -> dict[str, float]:
    """Return the job's result from its driver's log.

    Raises:
        NotReadyError: there is none, or it is not the right number.
    """
    found = _RESULT.search(log)
    if found is None:
        raise _failed(f"its log has no result; it ends: {log.strip()[-300:] or '(empty)'}")
    result: dict[str, float] = json.loads(found[1])
    expected = PRIMES_BELOW.get(int(result["limit"]))
    if result["primes"] != expected:
        raise _failed(f"it counted {result['primes']} primes below {result['limit']}; there are {expected}")
    return result


def _run(
    session: Session, objects: list[Object], emit: Emit, timeout: float, cancelled: threading.Event
) -> SmokeResult:
    job = next(ref_of(obj) for obj in objects if ref_of(obj).group_kind == _RAY_JOB)
    deadline = time.monotonic() + timeout
    with Watcher(session, namespace=job.namespace) as watcher:
        watcher.watch(_POD)
        watcher.watch(_RAY_JOB)
        with _removed_afterwards(session, objects):
            _remove(session, watcher, job, deadline)
            began = time.monotonic()
            for obj in objects:
                session.apply(obj)
            queued, ended = _follow(watcher, job, emit, began, deadline, cancelled)
            result = parse_result(_driver_log(session, ended))
            return SmokeResult(
                primes=int(result["primes"]),
                limit=int(result["limit"]),
                tasks=int(result["tasks"]),
                compute_seconds=result["seconds"],
                queued_seconds=queued,
                seconds=time.monotonic() - began,
            )


def _objects() -> list[Object]:
    path = data_root() / "examples" / "smoke" / "rayjob.yaml"
    return [obj for obj in yaml.safe_load_all(path.read_text()) if obj]


@contextmanager
def _removed_afterwards(session: Session, objects: list[Object]) -> Iterator[None]:
    try:
        yield
    finally:
        for obj in reversed(objects):
            session.delete(ref_of(obj))


def _remove(session: Session, watcher: Watcher, job: ObjectRef, deadline: float) -> None:
    """Remove what an interrupted run left, and wait until it is gone."""
    if not session.delete(job, foreground=True):
        return
    while time.monotonic() < deadline:
        seen = watcher.next(deadline - time.monotonic())
        if seen is not None and seen.ref == job and seen.obj is None:
            return
    raise _failed("an earlier one is still being deleted")


def _follow(
    watcher: Watcher, job: ObjectRef, emit: Emit, began: float, deadline: float, cancelled: threading.Event
) -> tuple[float, Object]:
    """Watch until the job has succeeded; return the seconds until it was admitted, and its last state."""
    admitted, said = 0.0, "not seen yet"
    while (left := deadline - time.monotonic()) > 0:
        if cancelled.is_set():
            raise stopped()
        seen = watcher.next(min(left, _CANCEL_SECONDS))
        if seen is None or seen.obj is None:
            continue
        if seen.ref == job:
            if not admitted and dig(seen.obj, "spec", "suspend") is not True:
                admitted = time.monotonic() - began
            if text(seen.obj, "status", "jobStatus") == "SUCCEEDED":
                return admitted, seen.obj
            if _over(seen.obj):
                raise _failed(_last_line(text(seen.obj, "status", "message")) or _state(seen.obj))
            now = _state(seen.obj)
        else:
            now = pod_trouble(seen.obj) and f"pod {seen.ref.name}: {pod_trouble(seen.obj)}"
        if now and now != said:
            said = now
            emit(StepProgress(STEP, said))
    raise _failed(f"it did not end in time; last seen: {said}")


def _over(job: Object) -> bool:
    return text(job, "status", "jobStatus") in ("FAILED", "STOPPED") or text(job, "status", "jobDeploymentStatus") in (
        "Failed",
        "ValidationFailed",
    )


def _state(job: Object) -> str:
    if dig(job, "spec", "suspend") is True:
        return "waiting in the queue"
    deployment = text(job, "status", "jobDeploymentStatus")
    return {
        "Initializing": "admitted; the Ray cluster starts",
        "Waiting": "the Ray cluster is ready",
        "Running": f"the job is {text(job, 'status', 'jobStatus').lower() or 'submitted'}",
    }.get(deployment, "admitted")


def _last_line(message: str) -> str:
    """Return what Ray's message comes to: it is a whole traceback, whose last line is the error."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _driver_log(session: Session, job: Object) -> str:
    """Return the driver's log, asked of Ray's own job server through the apiserver."""
    cluster, job_id = text(job, "status", "rayClusterName"), text(job, "status", "jobId")
    namespace = text(job, "metadata", "namespace")
    path = f"/api/v1/namespaces/{namespace}/services/{cluster}-head-svc:8265/proxy/api/jobs/{job_id}/logs"
    answer = session.transport.send("GET", path, accept="*/*")
    if answer.code != 200:
        raise _failed(f"its log cannot be read ({answer.code}): {answer.body.decode(errors='replace')[:300]}")
    return text(json.loads(answer.body), "logs")


def _failed(cause: str) -> NotReadyError:
    return NotReadyError("smoke job (RayJob team-a/smoke)", cause, "kubectl -n team-a get rayjob,workload,pod,events")
