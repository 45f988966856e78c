"""Do something for each node of a graph: each after those it waits for, the rest side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from typing import TypeVar

from modelyard.apply.run import Run, StoppedError
from modelyard.errors import ClusterUnreachableError, ModelyardError, RequestStoppedError

T = TypeVar("T")


def in_order(run: Run, after: Mapping[str, Collection[str]], work: Callable[[str], T]) -> list[T]:
    """Call `work` for each name, in a thread of its own, once those it comes after have ended well.

    Args:
        run: the run; stopped when the main thread is interrupted.
        after: each name with those it comes after; those that are not names themselves do not count.
        work: what to do.

    Raises:
        ModelyardError: the first failure; whatever does not come after the failed one was still done, unless the
            cluster does not answer any longer.
        KeyboardInterrupt: Ctrl-C, after all threads have stopped.
    """
    sorter: TopologicalSorter[str] = TopologicalSorter(
        {name: [each for each in before if each in after] for name, before in after.items()}
    )
    sorter.prepare()
    results: list[T] = []
    failures: list[ModelyardError] = []
    running: dict[Future[T], str] = {}
    with ThreadPoolExecutor(max_workers=max(len(after), 1), thread_name_prefix="component") as pool:
        try:
            while sorter.is_active():
                for name in sorted(sorter.get_ready()):
                    running[pool.submit(work, name)] = name
                if not running:  # what is left comes after something that failed
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda each: running[each]):
                    name = running.pop(future)
                    error = future.exception()
                    if isinstance(error, ModelyardError):
                        failures.append(error)
                        if isinstance(error, ClusterUnreachableError):  # nor will anybody else get an answer
                            run.stop()
                    else:
                        results.append(future.result())
                        sorter.done(name)
        except BaseException:
            run.stop()
            raise
    if failures:
        causes = [error for error in failures if not isinstance(error, StoppedError | RequestStoppedError)]
        raise (causes or failures)[0]
    return results
