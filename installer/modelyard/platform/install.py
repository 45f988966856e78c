"""Install the platform: recall, reach the cluster, settle what is wanted, render, compare, apply, prove."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from modelyard import apply
from modelyard.apply import Preview
from modelyard.catalog import Catalog
from modelyard.cluster import Session, connect
from modelyard.errors import RefusalError
from modelyard.events import Emit, Note, discard
from modelyard.plan.adoption import Adoption
from modelyard.plan.aim import Aim
from modelyard.platform.asked import Asked
from modelyard.platform.blueprint import Blueprint
from modelyard.platform.clusters.choice import cluster_for
from modelyard.platform.clusters.protocol import Cluster, EmbeddedOptions
from modelyard.platform.embedded.supply import SMOKE_COMPONENTS
from modelyard.platform.scratch import require_scratch
from modelyard.platform.settled import Settled, tell_not_selected
from modelyard.platform.where import Where
from modelyard.platform.workspace import Workspace
from modelyard.smoke import SmokeResult

__all__ = ["Installed", "Preview", "Request", "install", "preview"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to install, and where.

    Args:
        asked: components, target and images.
        where: a cluster that exists; nothing is named in it where the target says which cluster it is.
        embedded: what is said of an embedded cluster.
        timeout: seconds that each single wait may last.
        force_target: go on where the cluster is not of the target's kind.
        require_digests: refuse images without a digest in upstream.lock.
        cache_dir: --cache-dir.
        command: the command, as others that want to change the same cluster are told of it.
    """

    asked: Asked
    where: Where
    embedded: EmbeddedOptions
    timeout: float
    force_target: bool = False
    require_digests: bool = False
    cache_dir: Path | None = None
    command: str = "modelyard install"


@dataclass(frozen=True, slots=True)
class Installed:
    """What came of it.

    Args:
        report: what was done to each component.
        embedded: the embedded cluster's name; empty for any other cluster.
        smoke: the smoke job's result; None where it did not run.
    """

    report: apply.Report
    embedded: str
    smoke: SmokeResult | None

    @property
    def can_smoke(self) -> bool:
        """Tell whether all is installed that the smoke job runs through."""
        return {outcome.component for outcome in self.report.outcomes}.issuperset(SMOKE_COMPONENTS)


@dataclass(frozen=True, slots=True)
class _Compared:
    """What is to be installed, beside what lives."""

    settled: Settled
    items: tuple[apply.Rendered, ...]
    comparison: apply.Comparison


def install(request: Request, emit: Emit) -> Installed:
    """Bring a cluster to the platform that is asked for; what a run before has done is not done again.

    Args:
        request: what to install, and where.
        emit: takes the events; called from several threads.

    Raises:
        ModelyardError: the first failure; until the comparison has ended nothing was written.
    """
    story = _begin(request, emit)
    settled = story.foresee(story.cluster.find())
    cancelled = threading.Event()
    try:
        with (
            story.cluster.ready(settled, cancelled) as ready,
            apply.at_work(
                ready.session,
                apply.this_command(request.command),
                emit=emit,
                timeout=request.timeout,
                cancelled=cancelled,
            ) as turn,
        ):
            found = story.compare(settled, ready.session)
            if turn.take():  # another was at work since that was read
                found = story.compare(settled, ready.session)
            apply.keep_choice(ready.session, found.settled.choice)
            installing = apply.Installing(found.settled.names)
            with ready.beside(found.comparison, installing) as smoke_outcome:
                report = apply.install(
                    ready.session,
                    found.items,
                    prepare=ready.prepare,
                    emit=emit,
                    timeout=request.timeout,
                    cancelled=cancelled,
                    compared=found.comparison,
                    installing=installing,
                )
                result = Installed(report, story.cluster.embedded, smoke_outcome())
            tell_not_selected(ready.session, found.settled, emit)
            return result
    except BaseException:  # Ctrl-C too: whatever still runs ends at its next safe point
        cancelled.set()
        raise


def preview(request: Request, emit: Emit, *, server: bool) -> Sequence[Preview]:
    """Say what an install would change; nothing is written, and no cluster is made.

    Args:
        request: what to install, and where.
        emit: takes the events.
        server: have the apiserver check it too.

    Raises:
        ModelyardError: as `install` would, before its first write.
    """
    story = _begin(request, emit)
    session = story.cluster.existing()
    found = story.compare(None, session)
    previews = apply.preview(session, found.items, server=server, compared=found.comparison)
    tell_not_selected(session, found.settled, emit)
    return previews


@dataclass(frozen=True, slots=True)
class _Story:
    """What stays the same from the first line of an install to its last."""

    asked: Asked
    blueprint: Blueprint
    cluster: Cluster
    emit: Emit

    def settle(self, session: Session | None) -> Settled:
        return self.blueprint.settle(self.asked, session, self.emit, embedded=self.cluster.embedded)

    def foresee(self, session: Session | None) -> Settled | None:
        """Settle before the cluster is ready what it must be made ready for, or must not be made for; else nothing.

        What a cluster that is there remembers holds only once nobody else is at work on it.
        """
        if self.cluster.embedded:
            return self.settle(session)
        return None if session is not None else replace(self, emit=discard).settle(None)

    def compare(self, foreseen: Settled | None, session: Session) -> _Compared:
        """Compare the platform with what lives; what stands against it is refused, and nothing has been written."""
        settled = self.settle(session) if foreseen is None or not self.cluster.embedded else foreseen
        if settled is foreseen:
            self._refuse_changed(session, foreseen)
        self.cluster.check(session, settled.names)
        items = self.blueprint.rendered(settled, session)
        comparison = apply.compare_all(session, items, Adoption(self.asked.adopted), self.asked.recreate)
        return _Compared(settled, items, comparison)

    def _refuse_changed(self, session: Session, foreseen: Settled) -> None:
        """Refuse to go on where another command has changed what was chosen: images were built for what it was."""
        now = apply.read_choice(session)
        if now != foreseen.before:
            raise RefusalError(
                f"cluster {self.cluster.embedded}",
                f"was changed by another command meanwhile: {now or 'nothing is chosen for it any longer'}",
                "run the same command again: it goes by what holds now",
            )


def _begin(request: Request, emit: Emit) -> _Story:
    """Find out what is asked for, from which catalogue, and on which cluster; nobody is asked but for the target."""
    require_scratch()
    workspace = Workspace(request.cache_dir, emit)
    asked = request.asked
    if request.where.option:
        request.embedded.refuse(request.where.option)
        asked = _with_target(asked, request.where, emit)
    catalog, target = asked.open(workspace.catalog())
    blueprint = Blueprint(
        workspace=workspace,
        catalog=catalog,
        target=target,
        aim=_aim(catalog, target, force=request.force_target),
        require_digests=request.require_digests,
    )
    cluster = cluster_for(request.where, request.embedded, blueprint, request.timeout, emit)
    asked = cluster.accept(asked)
    blueprint.refuse_early(asked)
    return _Story(asked, blueprint, cluster, emit)


def _with_target(asked: Asked, where: Where, emit: Emit) -> Asked:
    """Return what is asked for with a target: the one that the cluster was installed for, where none is named."""
    if asked.target is not None or asked.overlay is not None:
        return asked
    target = apply.remembered_target(connect(where.kubeconfig, where.context))
    emit(Note(f"target {target}, as before"))
    return replace(asked, target=target)


def _aim(catalog: Catalog, target: str, *, force: bool) -> Aim:
    below = catalog.target(target).base if catalog.overlay is not None else None
    return Aim((target, below) if below else (target,), catalog.base(target), force)
