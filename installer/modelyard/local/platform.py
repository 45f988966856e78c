"""`modelyard install` on the target `local`: build, start, load, apply and prove, each as early as it can be.

The order in which things become possible:

    control plane compiled -> cluster up -> component applied as soon as its images are there
                                            -> smoke job as soon as what it runs through is ready
    (controllers and Python images go on being built all the while)
"""

from __future__ import annotations

import filecmp
import shutil
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from modelyard import apply, smoke
from modelyard.apply.comparison import Comparison
from modelyard.catalog import Catalog, Component
from modelyard.catalog.choice import Choice
from modelyard.cluster import Session, connect
from modelyard.errors import NotReadyError, RefusalError
from modelyard.events import Emit, Event, Note, StepDone, StepFailed, StepProgress
from modelyard.local import supply
from modelyard.local.alive import alive
from modelyard.local.artifacts.binaries import CONTROL_PLANE, HELM, KUSTOMIZE
from modelyard.local.artifacts.cluster_set import request_set
from modelyard.local.artifacts.debian import ensure_host_packages
from modelyard.local.artifacts.estimates import estimate
from modelyard.local.artifacts.queue import BuildQueue
from modelyard.local.artifacts.store import digest
from modelyard.local.artifacts.toolchain import find_go
from modelyard.local.loading import Loader
from modelyard.local.runtime import ClusterInfo, ClusterSpec, up
from modelyard.local.runtime.bring_up import fit_host
from modelyard.local.runtime.layout import layout
from modelyard.local.sizing import Render, render_to_fit
from modelyard.plan.adoption import Adoption
from modelyard.plan.lease import Holder
from modelyard.plan.recreate import Named
from modelyard.steps import step

# A cold build of all components takes half of it on a slow machine; the install says nothing then.
SILENCE_SECONDS = 7200.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to install, and on what.

    Args:
        spec: the embedded cluster.
        target: a target that rests on `local`.
        components: names, each after what it requires.
        choice: what was chosen; the cluster keeps it.
        adoption: what lives there as somebody else's and may be taken over.
        before: what had been chosen when that was settled; None for a cluster that was new.
        holder: the command, as others that want to change the cluster are told of it.
        recreate: objects that may be deleted and created again, where they cannot be changed.
        cache: the cache folder.
        timeout: seconds that each single wait for readiness may last.
        smoke: run the smoke job at the end; None: unless it passed before on the very same platform.
    """

    spec: ClusterSpec
    target: str
    components: tuple[str, ...]
    choice: Choice
    before: Choice | None
    holder: Holder
    cache: Path
    timeout: float
    smoke: bool | None = None
    adoption: Adoption = field(default_factory=Adoption)
    recreate: tuple[Named, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it; `smoke` is None where the job did not run: not asked for, not possible, or passed before."""

    cluster: ClusterInfo
    report: apply.Report
    smoke: smoke.SmokeResult | None


def install(catalog: Catalog, request: Request, *, render: Render, emit: Emit, cancelled: threading.Event) -> Result:
    """Bring up the embedded cluster and the platform on it, and run a job through its queue.

    Running it again goes on where it was: built things are in the cache, all else is in the cluster.

    Args:
        catalog: the catalogue.
        request: what to install.
        render: names and values -> objects by name.
        emit: takes the events; called from several threads.
        cancelled: set it to stop at the next safe point.

    Raises:
        ModelyardError: the first failure.
    """
    ensure_host_packages(emit)
    fit_host(request.spec.name, request.cache)
    queue = BuildQueue(find_go(request.cache), request.cache, emit)
    try:
        with queue.gathering():
            cluster_set = request_set(queue)
            queue.binary(KUSTOMIZE)
            queue.binary(HELM)
            supplies = supply.request(queue, catalog, request.components)
            _announce(queue, request.cache, emit)
        cluster = up(request.spec, *cluster_set(), emit, timeout=request.timeout)
        _offer_kubectl(queue)
        return _on_cluster(catalog, request, cluster, supplies, render, emit, cancelled)
    finally:
        queue.close(cancel=True)


def _on_cluster(
    catalog: Catalog,
    request: Request,
    cluster: ClusterInfo,
    supplies: Mapping[str, supply.Supply],
    render: Render,
    emit: Emit,
    cancelled: threading.Event,
) -> Result:
    session, milestones = connect(cluster.kubeconfig), Milestones(emit)

    def stop() -> None:
        cancelled.set()
        session.transport.cancelled.set()
        milestones.give_up()

    where, holder = layout(request.spec.name), request.holder
    with (
        alive(where, stop) as gone,
        apply.at_work(session, holder, emit=emit, timeout=request.timeout, cancelled=cancelled) as turn,
    ):
        items, compared = _compared(catalog, request, session, render)
        if turn.take():  # another was at work since that was read
            items, compared = _compared(catalog, request, session, render)
        apply.keep_choice(session, request.choice)
        loader = Loader(request.spec.name, cancelled)
        proving = _Proving(request, cluster, supplies, loader, milestones, Proof(where.root / "smoke-passed", compared))

        def prepare(component: Component) -> None:
            loader.load(supplies[component.name].controller)

        with ThreadPoolExecutor(2, "beside-install") as beside:
            proof = beside.submit(_prove, proving, emit, cancelled, gone)
            rest = beside.submit(_load_workloads, catalog, request, supplies, loader, milestones, emit)
            try:
                report = apply.install(
                    session,
                    items,
                    prepare=prepare,
                    emit=milestones,
                    timeout=request.timeout,
                    cancelled=cancelled,
                    compared=compared,
                )
                milestones.end()
                rest.result()
                return Result(cluster, report, proof.result())
            except BaseException:  # Ctrl-C too: what runs beside ends at its next safe point, and is waited for
                cancelled.set()
                milestones.give_up()
                raise


def _compared(
    catalog: Catalog, request: Request, session: Session, render: Render
) -> tuple[tuple[apply.Rendered, ...], Comparison]:
    """Return the platform to fit its cluster, compared with what lives there; nothing has been written till then."""
    _refuse_changed(session, request)
    items = render_to_fit(catalog, request.target, request.components, session, render)
    return items, apply.compare_all(session, items, request.adoption, request.recreate)


def _refuse_changed(session: Session, request: Request) -> None:
    """Refuse to go on where another command changed, while this one built or waited, what was chosen."""
    now = apply.read_choice(session)
    if now != request.before:
        raise RefusalError(
            f"cluster {request.spec.name}",
            f"was changed by another command meanwhile: {now or 'nothing is chosen for it any longer'}",
            "run the same command again: it goes by what holds now",
        )


class Milestones:
    """Passes events on, and lets others wait until a component is installed.

    Args:
        emit: takes the events.
        silence: seconds without any event after which nobody waits any longer.
    """

    def __init__(self, emit: Emit, *, silence: float = SILENCE_SECONDS) -> None:
        self._emit = emit
        self._silence = silence
        self._changed = threading.Condition()
        self._installed: set[str] = set()
        self._over = False
        self._ended = False
        self._last, self._last_at = "nothing", time.monotonic()

    def __call__(self, event: Event) -> None:
        """Take an event of the install."""
        self._emit(event)
        kind, _, name = getattr(event, "key", "").partition(":")
        with self._changed:
            self._last, self._last_at = str(event), time.monotonic()
            if kind == "install" and isinstance(event, StepDone):
                self._installed.add(name)
            elif kind == "install" and isinstance(event, StepFailed):
                self._over = True
            self._changed.notify_all()

    def give_up(self) -> None:
        """Let nobody wait any longer: the install failed, and says why itself."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def end(self) -> None:
        """Let nobody wait any longer: the install ended well, so all that it does has been told."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def reached(self, names: Sequence[str]) -> bool:
        """Wait until all of `names` are installed; False where the install failed before.

        Raises:
            NotReadyError: the install ended, or nothing was heard of it for too long, and one of them was not told.
        """
        with self._changed:
            while not (self._over or self._installed.issuperset(names)):
                left = self._last_at + self._silence - time.monotonic()
                if self._ended or left <= 0:
                    raise self._untold(min(set(names) - self._installed))
                self._changed.wait(left)
            return self._installed.issuperset(names)

    def _untold(self, name: str) -> NotReadyError:
        when = "the install ended" if self._ended else f"nothing was heard for {self._silence:.0f} s"
        return NotReadyError(
            f"component {name}",
            f"was not told to be installed, though {when}; last seen: {self._last}",
            "run the same command again: it goes on where it was",
        )


class Proof:
    """Remembers, beside the cluster's state, on which platform the smoke job passed last.

    Args:
        path: the file.
        compared: the platform, as it is to be.
    """

    def __init__(self, path: Path, compared: Comparison) -> None:
        self._path = path
        self._key = digest(*(f"{name} {found}" for name, found in compared.digests.items()))

    def given(self) -> bool:
        """Tell whether the job passed on this very platform."""
        return self._path.is_file() and self._path.read_text() == self._key

    def give(self) -> None:
        """Remember that it did."""
        self._path.write_text(self._key)

    def withdraw(self) -> None:
        """Forget it."""
        self._path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Proving:
    """What the smoke job needs."""

    request: Request
    cluster: ClusterInfo
    supplies: Mapping[str, supply.Supply]
    loader: Loader
    milestones: Milestones
    proof: Proof


def _prove(
    proving: _Proving, emit: Emit, cancelled: threading.Event, gone: threading.Event
) -> smoke.SmokeResult | None:
    """Run the smoke job as soon as what it runs through is there."""
    request, proof, supplies = proving.request, proving.proof, proving.supplies
    needed = supply.SMOKE_COMPONENTS
    wanted = request.smoke if request.smoke is not None else not proof.given()
    if not wanted or not set(needed) <= set(request.components):
        return None
    proof.withdraw()
    # Disks are slow: first the controllers that the job waits for, then its own image.
    for images in [*(supplies[name].controller for name in needed), *(supplies[name].workload for name in needed)]:
        proving.loader.load(images)
    if not proving.milestones.reached(needed):
        return None  # the install's own error says why
    kubeconfig = proving.cluster.kubeconfig
    result = smoke.run(kubeconfig, emit, timeout=request.timeout, cancelled=cancelled, gone=gone)
    proof.give()
    return result


def _load_workloads(
    catalog: Catalog,
    request: Request,
    supplies: Mapping[str, supply.Supply],
    loader: Loader,
    milestones: Milestones,
    emit: Emit,
) -> None:
    """Load the images that only jobs use, where they are in nobody's way.

    That is while controllers still compile, else when all components are installed.
    """
    images = {name: future for each in supplies.values() for name, future in each.workload.items()}
    if not loader.lacks(images):
        return
    controllers = [future for each in supplies.values() for future in each.controller.values()]
    if all(future.done() for future in controllers):
        awaited: Sequence[str] = request.components
    else:
        awaited = [name for name in supply.SMOKE_COMPONENTS if name in request.components]
    if not milestones.reached(awaited):
        return  # the install's own error says why
    with step(emit, "load:workloads", "load images for jobs") as finish:
        for name, future in images.items():
            emit(StepProgress("load:workloads", name))
            loader.load({name: future})
        finish(f"{len(images)} images")
    lacking = [image for name in request.components for image in supply.not_built(catalog.component(name))]
    if lacking:
        emit(Note(f"not on this cluster, as nothing here builds them: {', '.join(lacking)}"))


def _announce(queue: BuildQueue, cache: Path, emit: Emit) -> None:
    """Tell how much is to be built before any of it begins, and how long that takes."""
    missing = queue.missing
    if missing:
        compiled = sum(each.kind == "binary" for each in missing)
        emit(
            Note(
                f"{compiled} programs to compile and {len(missing) - compiled} Python images to make, of "
                f"{len(queue.asked)} in all: {estimate(queue.asked, missing)}; what is built is kept in {cache}, "
                "so this may be stopped at any time and goes on where it was"
            )
        )


def _offer_kubectl(queue: BuildQueue) -> None:
    """Put the built kubectl into modelyard's virtual environment where the machine has none on PATH."""
    if shutil.which("kubectl") is not None or sys.prefix == sys.base_prefix:
        return
    [kubectl] = [binary for binary in CONTROL_PLANE if binary.name == "kubectl"]
    built, target = queue.binary(kubectl).result(), Path(sys.prefix) / "bin" / "kubectl"
    if target.is_file() and filecmp.cmp(built, target, shallow=False):
        return
    fresh = target.with_suffix(".new")  # the old one may be running
    shutil.copyfile(built, fresh)
    fresh.chmod(0o755)
    fresh.replace(target)
