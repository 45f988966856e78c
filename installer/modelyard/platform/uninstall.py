"""Remove what was installed: reach the cluster and plan; then, once that is agreed to, take the turn and remove."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from modelyard import apply
from modelyard.apply import Removal
from modelyard.catalog import Component, load
from modelyard.cluster import Session
from modelyard.events import Emit
from modelyard.paths import data_root
from modelyard.platform.where import Where

__all__ = ["Planned", "Removal", "Removed", "Request", "plan", "uninstall"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to remove, and from where.

    Args:
        where: the cluster.
        components: these alone; none: all.
        timeout: seconds that each single wait may last.
        delete_data: users' objects of its kinds, and namespaces with what is in them, too.
        lost: components whose inventories are lost, too.
        remove_finalizers: take finalizers off what does not go.
        command: the command, as others that want to change the same cluster are told of it.
    """

    where: Where
    components: tuple[str, ...] = ()
    timeout: float = 300.0
    delete_data: bool = False
    lost: bool = False
    remove_finalizers: bool = False
    command: str = "modelyard uninstall"


@dataclass(frozen=True, slots=True)
class Planned:
    """What would be removed, and from which cluster."""

    request: Request
    session: Session
    removal: Removal


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed, and in how many seconds."""

    components: tuple[str, ...]
    seconds: float


def plan(request: Request) -> Planned:
    """Read from the cluster what would be removed; change nothing.

    Raises:
        ModelyardError: nobody answers, or something stands against it.
    """
    session = request.where.open()
    return Planned(request, session, _plan(request, session))


def uninstall(planned: Planned, emit: Emit) -> Removed:
    """Remove it, and nothing else.

    Args:
        planned: what was agreed to.
        emit: takes the events; called from several threads.

    Raises:
        ModelyardError: the first failure.
    """
    request, session = planned.request, planned.session
    cancelled = threading.Event()
    holder = apply.this_command(request.command)
    with apply.at_work(session, holder, emit=emit, timeout=request.timeout, cancelled=cancelled) as turn:
        turn.take()
        removal = _plan(request, session)  # anew: another may have been at work until now
        seconds = apply.uninstall(
            session,
            removal,
            delete_data=request.delete_data,
            remove_finalizers=request.remove_finalizers,
            emit=emit,
            timeout=request.timeout,
            cancelled=cancelled,
        )
    return Removed(tuple(removal.order), seconds)


def _plan(request: Request, session: Session) -> Removal:
    return apply.plan_removal(session, request.components, lost=request.lost, catalogue=_catalogue)


def _catalogue() -> Mapping[str, Component]:
    return load(data_root()).components
