"""Wait, by watch, until objects are as they should be; say what was last seen.

An object that had failed before the wait began is given the whole time: only what it says since then counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from modelyard.apply.run import Run
from modelyard.cluster import Seen, Watcher, workload_trouble
from modelyard.errors import NotReadyError
from modelyard.objects import Object, ObjectRef, ref_of
from modelyard.readiness import Readiness, Status, missing
from modelyard.readiness.failures import failure_of

# How often pods and logs are asked why a workload is not ready, while nothing changes.
LOOK_SECONDS = 2.0
TICK_SECONDS = 0.5

Judge = Callable[[Object], Readiness]


def wait_ready(run: Run, key: str, known: Iterable[Object], judge: Judge, *, selector: str) -> None:
    """Wait until `judge` finds every object Current.

    Args:
        run: the run.
        key: the step that is told of the progress.
        known: the objects as last seen; only those not Current yet are watched.
        judge: object -> readiness.
        selector: a label selector that all of them match.

    Raises:
        NotReadyError: one of them failed since it was last seen, or the deadline passed; names the object and the
            reason.
    """
    pending = {ref_of(obj): _begin(obj, judge(obj)) for obj in known}
    _settle(pending)
    if not pending:
        return
    with Watcher(run.session, label_selector=selector) as watcher:
        for kind in sorted({ref.group_kind for ref in pending}):
            seen = {item.ref: item.obj for item in watcher.watch(kind)}
            for ref in [ref for ref in pending if ref.group_kind == kind]:
                _note(pending, Seen(ref, seen.get(ref)), judge)
        _follow(run, key, watcher, pending, judge)


@dataclass(frozen=True, slots=True)
class _Pending:
    """An object that is not ready yet.

    Args:
        obj: as last seen.
        state: how it was judged.
        old: its failure from before the wait, as long as it is still that one.
    """

    obj: Object | None
    state: Readiness
    old: str

    @property
    def failed(self) -> bool:
        """Tell whether it failed since the wait began."""
        return self.state.status is Status.FAILED and failure_of(self.obj, self.state) != self.old


def _begin(obj: Object, state: Readiness) -> _Pending:
    return _Pending(obj, state, failure_of(obj, state))


def _follow(run: Run, key: str, watcher: Watcher, pending: dict[ObjectRef, _Pending], judge: Judge) -> None:
    deadline = run.deadline()
    look_at = time.monotonic()
    told = ""
    while _settle(pending):
        run.check()
        _raise_if_failed(run, pending)
        now = time.monotonic()
        if now >= deadline:
            raise _late(run, pending)
        if now >= look_at:
            saying = _describe(run, pending)
            if saying != told:
                run.progress(key, saying)
            told = saying
            look_at = time.monotonic() + LOOK_SECONDS
        seen = watcher.next(min(TICK_SECONDS, deadline - now))
        if seen is not None:
            _note(pending, seen, judge)


def _note(pending: dict[ObjectRef, _Pending], seen: Seen, judge: Judge) -> None:
    if seen.ref in pending:
        state = missing() if seen.obj is None else judge(seen.obj)
        old = pending[seen.ref].old
        pending[seen.ref] = _Pending(seen.obj, state, old if failure_of(seen.obj, state) == old else "")


def _settle(pending: dict[ObjectRef, _Pending]) -> bool:
    """Take out what is ready; tell whether something is left."""
    for ref in [ref for ref, found in pending.items() if found.state.current]:
        del pending[ref]
    return bool(pending)


def _raise_if_failed(run: Run, pending: dict[ObjectRef, _Pending]) -> None:
    for ref, found in sorted(pending.items()):
        if found.failed:
            raise NotReadyError(str(ref), f"failed: {explain(run, found.obj, found.state)}", _remedy(ref))


def _late(run: Run, pending: dict[ObjectRef, _Pending]) -> NotReadyError:
    ref, found = min(pending.items())
    others = f" (and {len(pending) - 1} more)" if len(pending) > 1 else ""
    reason = explain(run, found.obj, found.state)
    return NotReadyError(str(ref), f"{reason} after {run.timeout:.0f} s{others}", _remedy(ref))


def _describe(run: Run, pending: dict[ObjectRef, _Pending]) -> str:
    ref, found = min(pending.items())
    return f"{ref}: {explain(run, found.obj, found.state)}"


def explain(run: Run, obj: Object | None, state: Readiness) -> str:
    """Return a state's reason and, for a workload, what its pods say."""
    trouble = workload_trouble(run.session, obj) if obj is not None else ""
    return f"{state.reason}: {trouble}" if trouble else state.reason


def _remedy(ref: ObjectRef) -> str:
    where = f"-n {ref.namespace} " if ref.namespace else ""
    return (
        f"kubectl {where}describe {ref.kind.lower()} {ref.name}; then run the same command again: "
        "it goes on where it was"
    )
