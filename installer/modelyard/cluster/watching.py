"""Watches that feed one queue: what changes in a cluster, as it changes."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

import urllib3

from modelyard.cluster.failures import ApiError
from modelyard.cluster.session import Listing, Session
from modelyard.cluster.transport import Stream
from modelyard.errors import ApplyError, ClusterUnreachableError, ModelyardError
from modelyard.objects import GroupKind, Object, ObjectRef, mapping, ref_of, text

# The apiserver ends a watch after this; it goes on from where it was.
WATCH_SECONDS = 240
REOPEN_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Seen:
    """The last state of an object; `obj` is None once it is gone."""

    ref: ObjectRef
    obj: Object | None


@dataclass(slots=True)
class Watcher:
    """Watches kinds under one label selector, each in a thread of its own; use it in `with`.

    Args:
        session: the cluster.
        label_selector: which objects; empty: all.
        namespace: where; empty: everywhere.
    """

    session: Session
    label_selector: str = ""
    namespace: str = ""
    _queue: queue.SimpleQueue[Seen | ModelyardError] = field(default_factory=queue.SimpleQueue)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _streams: dict[GroupKind, Stream] = field(default_factory=dict)
    _threads: list[threading.Thread] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        with self._lock:
            for stream in self._streams.values():
                # One that has just ended by itself has no socket left to wake up.
                with suppress(OSError, ValueError, RuntimeError):
                    stream.shutdown()
        for thread in self._threads:
            thread.join(timeout=5)

    def watch(self, kind: GroupKind) -> list[Seen]:
        """Begin to watch `kind`; return the objects that are there now."""
        listing = self.session.list(kind, namespace=self.namespace, label_selector=self.label_selector)
        if listing is None:
            raise ApplyError(f"kind {kind}", "the cluster does not have it", "run the same command again")
        thread = threading.Thread(target=self._follow, args=(kind, listing), name=f"watch {kind}", daemon=True)
        self._threads.append(thread)
        thread.start()
        return [Seen(ref_of(item), item) for item in listing.items]

    def next(self, timeout: float) -> Seen | None:
        """Return the next change, or None after `timeout` seconds without one.

        Raises:
            ModelyardError: a watch broke off for good.
        """
        try:
            found = self._queue.get(timeout=max(timeout, 0.001))
        except queue.Empty:
            return None
        if isinstance(found, ModelyardError):
            raise found
        return found

    def _follow(self, kind: GroupKind, listing: Listing) -> None:
        known = {ref_of(item) for item in listing.items}
        version = listing.resource_version
        try:
            while not self._stopped.is_set():
                version = self._once(kind, version, known)
                if not version and not self._stopped.is_set():
                    version = self._relist(kind, known)
        except ModelyardError as error:
            if not self._stopped.is_set():
                self._queue.put(error)

    def _once(self, kind: GroupKind, version: str, known: set[ObjectRef]) -> str:
        """Watch until the apiserver ends it; return the version to go on from, or "" to list anew."""
        resource = self.session.discovery.find(kind)
        if resource is None:
            return ""
        query = {
            "watch": "1",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH_SECONDS),
            "labelSelector": self.label_selector,
        }
        try:
            with ExitStack() as stack:
                opened = self.session.transport.open(
                    resource.path(self.namespace),
                    query={key: value for key, value in query.items() if value},
                    read_seconds=WATCH_SECONDS + 10,
                )
                stream = stack.enter_context(opened)
                with self._lock:
                    if self._stopped.is_set():
                        return ""
                    self._streams[kind] = stream
                stack.callback(self._forget, kind)
                for event in _lines(stream):
                    if event.get("type") == "ERROR":  # 410: the version is too old by now
                        return ""
                    obj = mapping(event, "object")
                    version = text(obj, "metadata", "resourceVersion") or version
                    self._report(event, obj, known)
        except (urllib3.exceptions.HTTPError, OSError, ValueError, ClusterUnreachableError):
            # The connection broke. Listing anew finds out, with the session's patience, if for good.
            self._stopped.wait(REOPEN_SECONDS)
            return ""
        except ApiError as error:
            if error.momentary or error.unconverted:
                self._stopped.wait(REOPEN_SECONDS)
            elif error.code != 410:
                raise
            return ""
        return version

    def _forget(self, kind: GroupKind) -> None:
        with self._lock:
            self._streams.pop(kind, None)

    def _relist(self, kind: GroupKind, known: set[ObjectRef]) -> str:
        listing = self._list_once_converted(kind)
        items = listing.items if listing else ()
        found = {ref_of(item): item for item in items}
        for ref in known - set(found):
            self._queue.put(Seen(ref, None))
        for ref, item in found.items():
            self._queue.put(Seen(ref, item))
        known.clear()
        known.update(found)
        return listing.resource_version if listing else ""

    def _list_once_converted(self, kind: GroupKind) -> Listing | None:
        """List `kind`; while the webhook that converts it is down, again, until whoever waits ends the watch."""
        while True:
            try:
                return self.session.list(kind, namespace=self.namespace, label_selector=self.label_selector)
            except ApiError as error:
                if not error.unconverted or self._stopped.wait(REOPEN_SECONDS):
                    raise

    def _report(self, event: Mapping[str, object], obj: Object, known: set[ObjectRef]) -> None:
        ref = ref_of(obj)
        if event.get("type") in ("ADDED", "MODIFIED"):
            known.add(ref)
            self._queue.put(Seen(ref, obj))
        elif event.get("type") == "DELETED":
            known.discard(ref)
            self._queue.put(Seen(ref, None))


def _lines(stream: Stream) -> Iterator[Mapping[str, object]]:
    pending = b""
    for part in stream.stream(65536):
        *lines, pending = (pending + part).split(b"\n")
        for line in lines:
            if line.strip():
                yield json.loads(line)
