"""What one run of a verb shares: the cluster, the listener, the deadlines, the stop button."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from modelyard.apply.gate import Gate
from modelyard.catalog import Catalog, Component
from modelyard.catalog.removal import NO_RULES, RemovalRules, with_required
from modelyard.cluster import Session
from modelyard.errors import ModelyardError
from modelyard.events import Emit, StepProgress
from modelyard.objects import Object, ObjectRef
from modelyard.readiness import Rules


class StoppedError(ModelyardError):
    """The run was stopped before this step was done."""

    exit_code = 130


def stopped() -> StoppedError:
    """Return the error of whatever notices that it is to stop."""
    return StoppedError("modelyard", "was stopped", "the same command again goes on where it was")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A component and the objects it was rendered to.

    Args:
        component: its catalogue entry.
        version: its upstream's version; empty for our own.
        target: what it was rendered for.
        objects: the rendered objects.
        removal: what an uninstall must know of it, whoever provides what it requires.
    """

    component: Component
    version: str
    target: str
    objects: tuple[Object, ...]
    removal: RemovalRules = NO_RULES

    @property
    def name(self) -> str:
        """Return the component's name."""
        return self.component.name

    @property
    def rules(self) -> tuple[Mapping[str, object], ...]:
        """Return its healthCheckExprs."""
        return tuple(
            entry.model_dump(mode="json", exclude_none=True) for entry in self.component.readiness.healthCheckExprs
        )


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a verb.

    Args:
        session: the cluster.
        emit: takes the events; called from several threads.
        timeout: seconds that each wait may last.
        rules: readiness expressions of all components of the run.
        cancelled: set to stop at the next safe point.
        gate: see gate.py.
        adopted: objects that are taken over, with whom they belong to until now.
        moved: objects that one component of the run no longer has, and another one takes.
        recreate: objects to delete and create again, since they cannot be changed, with the reason.
    """

    session: Session
    emit: Emit
    timeout: float
    rules: Rules = field(default_factory=dict)
    cancelled: threading.Event = field(default_factory=threading.Event)
    gate: Gate = field(default_factory=Gate)
    adopted: Mapping[ObjectRef, str] = field(default_factory=dict)
    moved: frozenset[ObjectRef] = frozenset()
    recreate: Mapping[ObjectRef, str] = field(default_factory=dict)
    _stopping: threading.Lock = field(default_factory=threading.Lock)

    def progress(self, key: str, detail: str) -> None:
        """Tell what the step `key` last saw."""
        self.emit(StepProgress(key, detail))

    def deadline(self) -> float:
        """Return when a wait that begins now must end, on the monotonic clock."""
        return time.monotonic() + self.timeout

    def stop(self) -> bool:
        """Stop at the next safe point; requests that nobody answers are given up. Return False if it was stopped."""
        with self._stopping:
            first = not self.cancelled.is_set()
            self.cancelled.set()
        self.session.transport.cancelled.set()
        return first

    def check(self) -> None:
        """Raise StoppedError if the run has been stopped."""
        if self.cancelled.is_set():
            raise stopped()


def rendered(catalog: Catalog, target: str, outputs: Mapping[str, Sequence[Object]]) -> tuple[Rendered, ...]:
    """Pair what `render` returned with the catalogue's entries."""
    return tuple(
        Rendered(catalog.component(name), catalog.version(name), target, tuple(objects), rules_of(catalog, name))
        for name, objects in outputs.items()
    )


def rules_of(catalog: Catalog, name: str) -> RemovalRules:
    """Return what an uninstall must know of a component, whoever provides what it requires."""
    return with_required(name, {each: item.removal for each, item in catalog.components.items()}, catalog.requires)
