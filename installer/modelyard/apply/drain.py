"""Delete objects and wait, by watch, until they are gone."""

from __future__ import annotations

import time
from collections.abc import Mapping

from modelyard.apply.run import Run
from modelyard.apply.stuck import Stuck
from modelyard.cluster import Watcher
from modelyard.objects import Object, ObjectRef, text
from modelyard.plan.stuck import is_going, staying

TICK_SECONDS = 0.5
# After this, what waits for nobody but a controller that does not come back is not waited for any longer.
HOPELESS_SECONDS = 30.0
# How often finalizers are looked for that are to be taken off, and how long it may take until what had them is gone.
RELEASE_SECONDS = 2.0
GONE_SECONDS = 60.0


def drain(run: Run, key: str, objects: Mapping[ObjectRef, Object], stuck: Stuck, *, foreground: bool = False) -> None:
    """Delete `objects` and wait until all are gone.

    Args:
        run: the run.
        key: the step that is told of the progress.
        objects: live objects, with their uid: one that has been made anew meanwhile is left alone.
        stuck: who tells why something stays.
        foreground: what they own is gone before them.

    Raises:
        NotReadyError: the deadline passed; names an object that stays, its finalizers and who should take them off.
    """
    if not objects:
        return
    with Watcher(run.session) as watcher:
        left = dict(objects)
        for kind in sorted({ref.group_kind for ref in objects}):
            there = {seen.ref: seen.obj for seen in watcher.watch(kind)} if run.session.discovery.find(kind) else {}
            for ref in [ref for ref in left if ref.group_kind == kind and _other(there.get(ref), left[ref])]:
                del left[ref]
        for ref, obj in sorted(left.items()):
            run.check()
            if not is_going(obj):
                run.session.delete(ref, uid=text(obj, "metadata", "uid"), foreground=foreground)
        _until_gone(run, key, watcher, left, stuck)


def _until_gone(run: Run, key: str, watcher: Watcher, left: dict[ObjectRef, Object], stuck: Stuck) -> None:
    patience = _Patience(run, stuck)
    told = ""
    while left:
        run.check()
        patience.spend(left)
        ref, obj = min(left.items())
        saying = staying(obj)
        if saying != told:
            run.progress(key, f"{ref}: {saying}")
            told = saying
        seen = watcher.next(TICK_SECONDS)
        if seen is not None and seen.ref in left:
            if _other(seen.obj, left[seen.ref]):
                del left[seen.ref]
            elif seen.obj is not None:
                left[seen.ref] = seen.obj


class _Patience:
    """How long one wait lasts: until its deadline; less where it is in vain; a little more where it was helped."""

    def __init__(self, run: Run, stuck: Stuck) -> None:
        self._run, self._stuck = run, stuck
        self._began = time.monotonic()
        self._deadline = run.deadline()
        self._look = self._began + (RELEASE_SECONDS if stuck.remove else HOPELESS_SECONDS)
        self._helped = False

    def spend(self, left: Mapping[ObjectRef, Object]) -> None:
        """Look at what is left; NotReadyError once nothing is to be hoped for."""
        now = time.monotonic()
        late = now >= self._deadline
        if self._stuck.remove and (now >= self._look or late):
            self._look = now + RELEASE_SECONDS
            if late and not self._helped:
                self._stuck.release(self._run, left, all_of_it=True)
                self._helped, self._deadline = True, now + GONE_SECONDS
                return
            self._stuck.release(self._run, left, all_of_it=self._helped)
        elif not self._stuck.remove and now >= self._look:
            self._look = now + HOPELESS_SECONDS
            late = late or self._stuck.hopeless(self._run, left)
        if late:
            raise self._stuck.late(self._run, left, now - self._began)


def _other(now: Object | None, before: Object) -> bool:
    """Tell whether the object is gone; one of the same name made anew is another."""
    return now is None or text(now, "metadata", "uid") != text(before, "metadata", "uid")
