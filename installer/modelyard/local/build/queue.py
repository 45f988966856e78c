"""The build queue: what is asked for first is built first, and nobody waits longer than for what he needs.

One Go build runs at a time (a compile uses all cores; two would only change the order), so binaries come in the
order in which they were asked for. Images are packed beside the next compile; Python images, which mostly wait
for downloads and disks, have a lane of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from modelyard.events import Emit, StepProgress
from modelyard.local.build.binaries import GoBinary, build_binary
from modelyard.local.build.images import GoImage, build_go_image
from modelyard.local.build.store import Store
from modelyard.local.build.toolchain import GoToolchain
from modelyard.programs import Children, Tell
from modelyard.steps import step


@dataclass(frozen=True, slots=True)
class Wanted:
    """Something to build.

    Args:
        kind: "binary" (compiled from Go) or "image" (of Python packages).
        name: what it is called in messages.
        group: what it shares the cost of building with: its Go module's folder; an image's own name.
    """

    kind: str
    name: str
    group: str


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
        self._begin = threading.Event()
        self._begin.set()
        self._requests: dict[str, Future[Path]] = {}
        self._missing: list[Wanted] = []
        self._asked: list[Wanted] = []
        self._lock = threading.Lock()

    def binary(self, binary: GoBinary) -> Future[Path]:
        """Ask for a binary."""
        key = binary.key(self.toolchain.version)
        wanted = Wanted("binary", binary.name, binary.module)
        watch = partial(self._watch, wanted, f"build:{binary.name}", f"compile {binary.name}")

        def work() -> Path:
            return build_binary(binary, self.toolchain, self.store, self._children, watch)

        return self._request(key, self._compile, work, wanted)

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
        from modelyard.local.build.python_image import build_python_image, recipe_fingerprint

        key, wanted = recipe_fingerprint(recipe), Wanted("image", recipe, recipe)

        def build(target: Path) -> None:
            with self._watch(wanted, f"image:{recipe}", f"image {recipe}"):
                build_python_image(recipe, target, self._cache, self._emit, self._children)

        def work() -> Path:
            if not self.store.has("image", key):
                _wait(after)
            if self._closed.is_set():
                raise CancelledError
            return self.store.get("image", key, build)

        return self._request(key, self._python, work, wanted)

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """Let nothing begin within the block: after it, `missing` has all that was asked for."""
        self._begin.clear()
        try:
            yield
        finally:
            self._begin.set()

    @property
    def missing(self) -> tuple[Wanted, ...]:
        """What was asked for and has to be built, in the order in which it was asked for; no binary or image twice."""
        with self._lock:
            return tuple(self._missing)

    @property
    def asked(self) -> tuple[Wanted, ...]:
        """All that was asked for, in the same order."""
        with self._lock:
            return tuple(self._asked)

    def close(self, *, cancel: bool = False) -> None:
        """Stop taking requests; with `cancel`, drop those that have not begun and end those that run."""
        if cancel:
            self._closed.set()
            self._begin.set()
        for lane in (self._compile, self._pack, self._python):
            lane.shutdown(wait=not cancel, cancel_futures=cancel)
        if cancel:
            self._children.stop()

    def _request(
        self, key: str, lane: ThreadPoolExecutor, work: Callable[[], Path], wanted: Wanted | None = None
    ) -> Future[Path]:
        def begin() -> Path:
            self._begin.wait()
            return work()

        with self._lock:
            if key not in self._requests:
                self._requests[key] = lane.submit(begin)
                if wanted is not None:
                    self._asked.append(wanted)
                    if not self.store.has(wanted.kind, key):
                        self._missing.append(wanted)
            return self._requests[key]

    @contextmanager
    def _watch(self, wanted: Wanted, key: str, title: str) -> Iterator[Tell]:
        """Make a step of a build, with its place among all that are missing."""
        missing = [each for each in self.missing if each.kind == wanted.kind]
        place = f" ({missing.index(wanted) + 1} of {len(missing)})" if wanted in missing else ""
        with step(self._emit, key, f"{title}{place}"):
            yield lambda detail: self._emit(StepProgress(key, detail))


def _wait(futures: Sequence[Future[Path]]) -> None:
    """Wait until all have ended, well or not.

    Not concurrent.futures.wait: it never hears of those that `shutdown` cancels.
    """
    ended = threading.Semaphore(0)
    for future in futures:
        future.add_done_callback(lambda _: ended.release())
    for _ in futures:
        ended.acquire()
