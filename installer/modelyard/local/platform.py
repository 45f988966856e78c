"""`modelyard install` on the target `local`: build, start, load, apply and prove, each as early as it can be.

The order in which things become possible:

    control plane compiled -> cluster up -> component applied as soon as its images are there
                                            -> smoke job as soon as what it runs through is ready
    (controllers and Python images go on being built all the while)
"""

from __future__ import annotations

import filecmp
import json
import shutil
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from modelyard import apply, smoke
from modelyard.catalog import Catalog, Component
from modelyard.catalog.choice import Choice
from modelyard.cluster import connect
from modelyard.events import Emit, Event, Note, StepDone, StepFailed, StepProgress
from modelyard.local import supply
from modelyard.local.artifacts.binaries import CONTROL_PLANE, HELM, KUSTOMIZE
from modelyard.local.artifacts.cluster_set import request_set
from modelyard.local.artifacts.debian import ensure_host_packages
from modelyard.local.artifacts.queue import BuildQueue
from modelyard.local.artifacts.store import digest
from modelyard.local.artifacts.toolchain import find_go
from modelyard.local.loading import Loader
from modelyard.local.runtime import ClusterInfo, ClusterSpec, up
from modelyard.local.runtime.bring_up import fit_host
from modelyard.local.runtime.layout import layout
from modelyard.local.sizing import Render, render_to_fit
from modelyard.plan.adoption import Adoption
from modelyard.steps import step


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to install, and on what.

    Args:
        spec: the embedded cluster.
        target: a target that rests on `local`.
        components: names, each after what it requires.
        choice: what was chosen; the cluster keeps it.
        adoption: what lives there as somebody else's and may be taken over.
        cache: the cache folder.
        timeout: seconds that each single wait for readiness may last.
        smoke: run the smoke job at the end; None: unless it passed before on the very same platform.
    """

    spec: ClusterSpec
    target: str
    components: tuple[str, ...]
    choice: Choice
    cache: Path
    timeout: float
    smoke: bool | None = None
    adoption: Adoption = field(default_factory=Adoption)


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
        cluster = up(request.spec, *cluster_set(), emit)
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
    session = connect(cluster.kubeconfig)
    loader = Loader(request.spec.name, cancelled)
    items = render_to_fit(catalog, request.target, request.components, session, render)
    compared = apply.compare_all(session, items, request.adoption)
    apply.keep_choice(session, request.choice)
    milestones = Milestones(emit)
    proof_of = Proof(layout(request.spec.name).root / "smoke-passed", items)

    def prepare(component: Component) -> None:
        loader.load(supplies[component.name].controller)

    with ThreadPoolExecutor(2, "beside-install") as beside:
        proof = beside.submit(_prove, request, cluster, supplies, loader, milestones, proof_of, emit, cancelled)
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
            rest.result()
            return Result(cluster, report, proof.result())
        except BaseException:  # Ctrl-C too: what runs beside ends at its next safe point, and is waited for
            cancelled.set()
            milestones.give_up()
            raise


class Milestones:
    """Passes events on, and lets others wait until a component is installed."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._changed = threading.Condition()
        self._installed: set[str] = set()
        self._over = False

    def __call__(self, event: Event) -> None:
        """Take an event of the install."""
        self._emit(event)
        kind, _, name = getattr(event, "key", "").partition(":")
        if kind == "install" and isinstance(event, StepDone | StepFailed):
            with self._changed:
                if isinstance(event, StepDone):
                    self._installed.add(name)
                else:
                    self._over = True
                self._changed.notify_all()

    def give_up(self) -> None:
        """Let nobody wait any longer."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def reached(self, names: Sequence[str]) -> bool:
        """Wait until all of `names` are installed; False where the install failed before."""
        with self._changed:
            self._changed.wait_for(lambda: self._over or self._installed.issuperset(names))
            return self._installed.issuperset(names)


class Proof:
    """Remembers, beside the cluster's state, on which platform the smoke job passed last.

    Args:
        path: the file.
        items: the platform as rendered.
    """

    def __init__(self, path: Path, items: Sequence[apply.Rendered]) -> None:
        self._path = path
        self._key = digest(*(json.dumps([item.name, item.objects], sort_keys=True) for item in items))

    def given(self) -> bool:
        """Tell whether the job passed on this very platform."""
        return self._path.is_file() and self._path.read_text() == self._key

    def give(self) -> None:
        """Remember that it did."""
        self._path.write_text(self._key)

    def withdraw(self) -> None:
        """Forget it."""
        self._path.unlink(missing_ok=True)


def _prove(
    request: Request,
    cluster: ClusterInfo,
    supplies: Mapping[str, supply.Supply],
    loader: Loader,
    milestones: Milestones,
    proof: Proof,
    emit: Emit,
    cancelled: threading.Event,
) -> smoke.SmokeResult | None:
    """Run the smoke job as soon as what it runs through is there."""
    needed = supply.SMOKE_COMPONENTS
    wanted = request.smoke if request.smoke is not None else not proof.given()
    if not wanted or not set(needed) <= set(request.components):
        return None
    proof.withdraw()
    # Disks are slow: first the controllers that the job waits for, then its own image.
    for images in [*(supplies[name].controller for name in needed), *(supplies[name].workload for name in needed)]:
        loader.load(images)
    if not milestones.reached(needed):
        return None  # the install's own error says why
    result = smoke.run(cluster.kubeconfig, emit, cancelled=cancelled)
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
