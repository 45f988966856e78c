"""Every pod that was ever in a namespace while it was watched, also one that came and went between two looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from conformance.support.kinds import POD
from conformance.support.workspace import Workspace
from modelyard.cluster import Watcher
from modelyard.objects import Object


class PodHistory:
    """Pods as a watch reports them.

    Args:
        watcher: watches the pods of one namespace.
    """

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._seen: dict[str, Object] = {}

    def named(self, prefix: str) -> list[str]:
        """Return the names of all pods so far that begin with `prefix`."""
        while (seen := self._watcher.next(0)) is not None:
            if seen.obj is not None:
                self._seen[seen.ref.name] = seen.obj
        return sorted(name for name in self._seen if name.startswith(prefix))


@contextmanager
def pod_history(workspace: Workspace) -> Iterator[PodHistory]:
    """Watch a namespace's pods while inside."""
    with Watcher(workspace.session, namespace=workspace.name) as watcher:
        watcher.watch(POD)
        yield PodHistory(watcher)
