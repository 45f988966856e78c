"""Install components: each after what it requires, the rest side by side."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass

from modelyard.apply import members
from modelyard.apply.comparison import Comparison, compare_all
from modelyard.apply.component import Outcome, State, install_component
from modelyard.apply.in_order import in_order
from modelyard.apply.run import Rendered, Run
from modelyard.catalog.models import Component
from modelyard.cluster import Session
from modelyard.errors import ClusterUnreachableError, ModelyardError
from modelyard.events import Emit, StepDone, StepFailed, StepStarted, discard
from modelyard.readiness import rules_from

Prepare = Callable[[Component], None]


@dataclass(frozen=True, slots=True)
class Report:
    """What an install did, by component, in the order in which they ended."""

    outcomes: tuple[Outcome, ...]
    seconds: float


class Installing:
    """What an install gives to those who wait for its components: a future for each.

    `install` settles all of them, whatever becomes of it; so nobody who waits needs a deadline beside its own ones.

    Args:
        names: the components.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._futures: dict[str, Future[Outcome]] = {name: Future() for name in names}
        self._settling = threading.Lock()

    def done(self, outcome: Outcome) -> None:
        """Tell that a component is installed; where all has ended before, nobody waits for it any more."""
        with self._settling:
            future = self._futures[outcome.component]
            if not future.done():
                future.set_result(outcome)

    def end(self) -> None:
        """Let nobody wait any longer; it may be told twice."""
        with self._settling:
            for future in self._futures.values():
                if not future.done() and future.cancel():
                    future.set_running_or_notify_cancel()  # else nobody who waits hears of it

    def reached(self, names: Iterable[str]) -> bool:
        """Wait until all of `names` are installed; False where the install ended before, and says why itself."""
        awaited = [self._futures[name] for name in names]
        wait(awaited)
        return not any(future.cancelled() for future in awaited)


def install(
    session: Session,
    components: Sequence[Rendered],
    *,
    prepare: Prepare | None = None,
    emit: Emit = discard,
    timeout: float = 300.0,
    cancelled: threading.Event | None = None,
    compared: Comparison | None = None,
    installing: Installing | None = None,
) -> Report:
    """Bring a cluster to what was rendered, and wait until all of it is ready.

    Running it again goes on where it was: all its state is in the cluster.

    Args:
        session: the cluster.
        components: what to install; requirements that are not among them count as there.
        prepare: called in a component's thread before it is applied; may block (images are made there).
        emit: takes the events; called from several threads.
        timeout: seconds that each single wait may last.
        cancelled: set it to stop at the next safe point.
        compared: the components beside what lives, if that was read just now (compare_all).
        installing: is told of each component, for those who wait for it.

    Raises:
        RefusalError: some of the objects are somebody else's, or cannot be changed; nothing was written.
        ModelyardError: the first failure; components that do not need the failed one were still installed.
        KeyboardInterrupt: Ctrl-C, after all threads have stopped.
    """
    began = time.monotonic()
    rules = rules_from(entry for item in components for entry in item.rules)
    compared = compared or compare_all(session, components)
    run = Run(
        session,
        emit,
        timeout,
        rules,
        cancelled or threading.Event(),
        adopted=compared.adopted,
        moved=compared.moved,
        recreate=compared.recreate,
    )
    known = compared.states if compared.finished else {}
    members.ensure_namespace(session)
    items = {item.name: item for item in components}
    after = {name: item.component.requires for name, item in items.items()}
    installing = installing or Installing(items)

    def work(name: str) -> Outcome:
        try:
            outcome = _one(run, items[name], prepare, known.get(name))
        except BaseException:  # what waits for others would only delay the report of this
            installing.end()
            raise
        installing.done(outcome)
        return outcome

    try:
        return Report(tuple(in_order(run, after, work)), time.monotonic() - began)
    finally:
        installing.end()


def _one(run: Run, item: Rendered, prepare: Prepare | None, known: State | None) -> Outcome:
    key = f"install:{item.name}"
    began = time.monotonic()
    run.emit(StepStarted(key, f"{item.name} {item.version}".strip()))
    try:
        run.check()
        if prepare is not None:
            run.progress(key, "waiting for its images")
            prepare(item.component)
        outcome = install_component(run, item, key, known)
    except ModelyardError as error:
        if run.cancelled.is_set():  # what stopped the run says why, once
            raise
        if isinstance(error, ClusterUnreachableError) and not run.stop():
            raise
        run.emit(StepFailed(key, time.monotonic() - began, f"{error.subject}: {error.cause}"))
        raise
    run.emit(StepDone(key, time.monotonic() - began, str(outcome)))
    return outcome
