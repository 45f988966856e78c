"""Images from the store onto the nodes, each once: what a node has already is not sent again."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future, wait
from pathlib import Path

from modelyard.apply.run import stopped
from modelyard.local import image_digests, load_image
from modelyard.local.build.oci import manifest_digest

_POLL = 0.5  # seconds; a compile lasts minutes, and Ctrl-C should not


class Loader:
    """Loads archives into all nodes of one cluster.

    Args:
        cluster: the cluster's name; it must be up.
        cancelled: set it to end all waiting for images.
    """

    def __init__(self, cluster: str, cancelled: threading.Event) -> None:
        self._cluster = cluster
        self._cancelled = cancelled
        self._on_nodes: dict[str, str] | None = None
        self._reading = threading.Lock()
        # One import at a time: it is the disk that they would wait for.
        self._lock = threading.Lock()

    @property
    def _present(self) -> dict[str, str]:
        """The nodes' images, read when they are first asked for: another command may have been at work until then."""
        with self._reading:
            if self._on_nodes is None:
                self._on_nodes = dict(image_digests(self._cluster))
            return self._on_nodes

    def lacks(self, images: Mapping[str, Future[Path]]) -> bool:
        """Tell whether one of `images` is not built yet, or not on the nodes as it was built."""
        return any(
            not future.done() or self._present.get(name) != manifest_digest(future.result())
            for name, future in images.items()
        )

    def load(self, images: Mapping[str, Future[Path]]) -> int:
        """Wait for each archive and load it; return how many had to be loaded.

        Args:
            images: full image name -> the archive, once it is built.

        Raises:
            BuildError: an image could not be built.
            LocalClusterError: a node refused one.
            StoppedError: `cancelled` was set.
        """
        loaded = 0
        for name, future in images.items():
            archive = self._built(future)
            digest = manifest_digest(archive)
            with self._lock:
                if self._present.get(name) != digest:
                    load_image(self._cluster, archive)
                    self._present[name] = digest
                    loaded += 1
        return loaded

    def _built(self, future: Future[Path]) -> Path:
        while not future.done() and not self._cancelled.is_set():
            wait([future], timeout=_POLL)
        if self._cancelled.is_set():
            raise stopped()
        try:
            return future.result()
        except CancelledError as error:
            raise stopped() from error
