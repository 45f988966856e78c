"""The build queue: what is asked for first is built first, and nobody waits longer than for what he needs.

One Go build runs at a time (a compile uses all cores; two would only change the order), so binaries come in the
order in which they were asked for. Images are packed beside the next compile; Python images, which mostly wait
for downloads and disks, have a lane of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path

from modelyard.events import Emit
from modelyard.local.artifacts.binaries import GoBinary, build_binary, is_built
from modelyard.local.artifacts.images import GoImage, build_go_image
from modelyard.local.artifacts.processes import Children
from modelyard.local.artifacts.store import Store
from modelyard.local.artifacts.toolchain import GoToolchain
from modelyard.steps import step


class BuildQueue:
    """Builds binaries and images into the store; every request is idempotent and returns a future of a path.

    Args:
        toolchain: the Go to compile with.
        cache: the cache folder; the store is `<cache>/store`.
        emit: receives a step for each thing that really has to be built, none for what is there.
    """

    def __init__(self, toolchain: GoToolchain, cache: Path, emit: Emit) -> None:
        self.toolchain = toolchain
        self.store = Store(cache / "store")
        self._cache = cache
        self._emit = emit
        self._compile = ThreadPoolExecutor(1, "compile")
        self._pack = ThreadPoolExecutor(1, "pack")
        self._python = ThreadPoolExecutor(1, "python-image")
        self._children = Children()
        self._closed = threading.Event()
        self._requests: dict[str, Future[Path]] = {}
        self._lock = threading.Lock()

    def binary(self, binary: GoBinary) -> Future[Path]:
        """Ask for a binary."""
        key = binary.key(self.toolchain.version)

        def work() -> Path:
            needed = not is_built(binary, self.toolchain, self.store)
            return self._step(
                needed,
                f"build:{binary.name}",
                f"compile {binary.name}",
                lambda: build_binary(binary, self.toolchain, self.store, self._children),
            )

        return self._request(key, self._compile, work)

    def image(self, image: GoImage) -> Future[Path]:
        """Ask for an image of binaries; the binaries are asked for with it."""
        compiled = {path: self.binary(binary) for path, binary in image.binaries.items()}

        def pack() -> Path:
            files = {path: future.result() for path, future in compiled.items()}
            return build_go_image(image, files, self.toolchain, self.store)

        return self._request(image.key(self.toolchain.version), self._pack, pack)

    def python_image(self, recipe: str, *, after: Sequence[Future[Path]] = ()) -> Future[Path]:
        """Ask for a Python image by its recipe's name.

        Args:
            recipe: a folder of recipes/.
            after: builds that must have ended, well or not, before this one may take time from them.
        """
        from modelyard.local.artifacts.python_image import build_python_image, recipe_fingerprint

        key = recipe_fingerprint(recipe)

        def build(target: Path) -> None:
            build_python_image(recipe, target, self._cache, self._emit, self._children)

        def work() -> Path:
            if not self.store.has("image", key):
                _wait(after)
            if self._closed.is_set():
                raise CancelledError
            return self._step(
                not self.store.has("image", key),
                f"image:{recipe}",
                f"image {recipe}",
                lambda: self.store.get("image", key, build),
            )

        return self._request(key, self._python, work)

    def close(self, *, cancel: bool = False) -> None:
        """Stop taking requests; with `cancel`, drop those that have not begun and end those that run."""
        if cancel:
            self._closed.set()
        for lane in (self._compile, self._pack, self._python):
            lane.shutdown(wait=not cancel, cancel_futures=cancel)
        if cancel:
            self._children.stop()

    def _request(self, key: str, lane: ThreadPoolExecutor, work: Callable[[], Path]) -> Future[Path]:
        with self._lock:
            if key not in self._requests:
                self._requests[key] = lane.submit(work)
            return self._requests[key]

    def _step(self, needed: bool, key: str, title: str, work: Callable[[], Path]) -> Path:
        if not needed:
            return work()
        with step(self._emit, key, title):
            return work()


def _wait(futures: Sequence[Future[Path]]) -> None:
    """Wait until all have ended, well or not.

    Not concurrent.futures.wait: it never hears of those that `shutdown` cancels.
    """
    ended = threading.Semaphore(0)
    for future in futures:
        future.add_done_callback(lambda _: ended.release())
    for _ in futures:
        ended.acquire()
