"""Queues that go: which jobs run through them, and how those are stopped."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from modelyard.apply.held import objects_of
from modelyard.apply.run import Run
from modelyard.cluster import Session, Watcher
from modelyard.errors import NotReadyError, RefusalError
from modelyard.events import Note
from modelyard.objects import Object, ObjectRef
from modelyard.plan import kinds, queues
from modelyard.plan.prune import in_use

TICK_SECONDS = 0.5


def running_through(session: Session, refs: Iterable[ObjectRef]) -> dict[ObjectRef, Sequence[ObjectRef]]:
    """Return the Workloads that hold quota of the ClusterQueues among `refs`, by queue."""
    going = [ref for ref in refs if ref.group_kind == queues.CLUSTER_QUEUE]
    return queues.running(going, _workloads(session) if going else ())


def _workloads(session: Session) -> Sequence[Object]:
    crd = session.get(ObjectRef(kinds.CRD.group, kinds.CRD.kind, "", "workloads.kueue.x-k8s.io"))
    return objects_of(session, crd, metadata_only=False) if crd else ()


def refuse_running(session: Session, refs: Iterable[ObjectRef], so_far: str) -> None:
    """Refuse to take a queue away from under the jobs that run through it.

    Args:
        session: the cluster.
        refs: what goes.
        so_far: what has been done already.

    Raises:
        RefusalError: a job runs through one of the queues.
    """
    held = running_through(session, refs)
    if held:
        raise RefusalError(
            str(next(iter(held))),
            f"jobs run through it: {in_use(held)}; {so_far}",
            "delete them or let them end first, or say so: modelyard uninstall --delete-data; it suspends them",
        )


def stop_jobs(run: Run, key: str, name: str, refs: Iterable[ObjectRef]) -> None:
    """Have Kueue suspend the jobs that run through queues, and wait until none holds quota: only then can those go.

    Args:
        run: the run.
        key: the step that is told of the progress.
        name: the component whose queues they are.
        refs: what goes.

    Raises:
        NotReadyError: a job still holds quota when the deadline passes.
    """
    held = running_through(run.session, refs)
    if not held:
        return
    with Watcher(run.session) as watcher:
        workloads = {seen.ref: seen.obj for seen in watcher.watch(queues.WORKLOAD)}
        for ref in held:
            run.session.patch(ref, {"spec": {"stopPolicy": "HoldAndDrain"}})
            run.emit(Note(f"{name}: suspended the jobs of a queue that goes: {in_use({ref: held[ref]})}"))
        _until_stopped(run, key, watcher, list(held), workloads)


def _until_stopped(
    run: Run, key: str, watcher: Watcher, going: Sequence[ObjectRef], workloads: dict[ObjectRef, Object | None]
) -> None:
    deadline = run.deadline()
    told: Mapping[ObjectRef, Sequence[ObjectRef]] = {}
    while held := queues.running(going, [each for each in workloads.values() if each is not None]):
        run.check()
        now = time.monotonic()
        if now >= deadline:
            ref, [workload, *_] = next(iter(held.items()))
            raise NotReadyError(
                str(ref),
                f"jobs still hold its quota after {run.timeout:.0f} s: {in_use(held)}",
                f"see why: kubectl -n {workload.namespace} describe workload {workload.name}; then run the same "
                "command again: it goes on where it was",
            )
        if held != told:
            run.progress(key, f"suspending jobs: {in_use(held)}")
            told = held
        seen = watcher.next(min(TICK_SECONDS, deadline - now))
        if seen is not None:
            workloads[seen.ref] = seen.obj
