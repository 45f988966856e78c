"""Delete objects and wait, by watch, until they are gone."""

from __future__ import annotations

import time
from collections.abc import Mapping

from modelyard.apply.run import Run
from modelyard.cluster import Watcher
from modelyard.errors import NotReadyError
from modelyard.objects import Object, ObjectRef, dig, sequence, text

TICK_SECONDS = 0.5


def drain(run: Run, key: str, objects: Mapping[ObjectRef, Object], *, foreground: bool = False) -> None:
    """Delete `objects` and wait until all are gone.

    Args:
        run: the run.
        key: the step that is told of the progress.
        objects: live objects, with their uid: one that has been made anew meanwhile is left alone.
        foreground: what they own is gone before them.

    Raises:
        NotReadyError: the deadline passed; names an object that stays and its finalizers.
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
            if dig(obj, "metadata", "deletionTimestamp") is None:
                run.session.delete(ref, uid=text(obj, "metadata", "uid"), foreground=foreground)
        _until_gone(run, key, watcher, left)


def _until_gone(run: Run, key: str, watcher: Watcher, left: dict[ObjectRef, Object]) -> None:
    deadline = run.deadline()
    told = ""
    while left:
        run.check()
        now = time.monotonic()
        ref, obj = min(left.items())
        saying = _staying(obj)
        if now >= deadline:
            raise NotReadyError(
                str(ref),
                f"is still there after {run.timeout:.0f} s: {saying}",
                f"see why: kubectl {'-n ' + ref.namespace + ' ' if ref.namespace else ''}get {ref.kind.lower()} "
                f"{ref.name} -o yaml; then run the same command again: it goes on where it was",
            )
        if saying != told:
            run.progress(key, f"{ref}: {saying}")
            told = saying
        seen = watcher.next(min(TICK_SECONDS, deadline - now))
        if seen is not None and seen.ref in left:
            if _other(seen.obj, left[seen.ref]):
                del left[seen.ref]
            elif seen.obj is not None:
                left[seen.ref] = seen.obj


def _other(now: Object | None, before: Object) -> bool:
    """Tell whether the object is gone; one of the same name made anew is another."""
    return now is None or text(now, "metadata", "uid") != text(before, "metadata", "uid")


def _staying(obj: Object) -> str:
    finalizers = [str(name) for name in sequence(obj, "metadata", "finalizers")]
    if finalizers:
        return f"going; waits for {', '.join(finalizers)}"
    return "going"
