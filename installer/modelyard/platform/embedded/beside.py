"""What runs on an embedded cluster while components are installed: the smoke job, and images that only jobs use."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from modelyard import smoke
from modelyard.apply import Comparison, Installing
from modelyard.catalog import Catalog
from modelyard.events import Emit, Note, StepProgress
from modelyard.local import ClusterInfo
from modelyard.platform.embedded.loading import Loader
from modelyard.platform.embedded.smoke_record import SmokeRecord
from modelyard.platform.embedded.supply import SMOKE_COMPONENTS, Supply, not_built
from modelyard.steps import step


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The cluster, and what is brought to it.

    Args:
        cluster: the cluster.
        root: where its state is.
        catalog: the catalogue.
        names: the components that are installed.
        supplies: their images.
        loader: loads images into the nodes.
        smoke: run the smoke job; None: unless it passed before on the very same platform.
        emit: takes the events.
        timeout: seconds that the smoke job may take.
        cancelled: set to stop at the next safe point.
        gone: set when the cluster is no more.
    """

    cluster: ClusterInfo
    root: Path
    catalog: Catalog
    names: Sequence[str]
    supplies: Mapping[str, Supply]
    loader: Loader
    smoke: bool | None
    emit: Emit
    timeout: float
    cancelled: threading.Event
    gone: threading.Event


@contextmanager
def beside(place: Place, compared: Comparison, installing: Installing) -> Iterator[smoke.Outcome]:
    """Run it while inside; give what waits for the smoke job's result.

    Args:
        place: the cluster, and what is brought to it.
        compared: the platform, as it is to be.
        installing: the install of it.
    """
    record = SmokeRecord(place.root / "smoke-passed", compared)
    with ThreadPoolExecutor(2, "beside-install") as pool:
        proof = pool.submit(_prove, place, record, installing)
        rest = pool.submit(_load_workloads, place, installing)

        def both() -> smoke.SmokeResult | None:
            rest.result()
            return proof.result()

        try:
            yield both
        except BaseException:  # Ctrl-C too: what runs beside ends at its next safe point, and is waited for
            place.cancelled.set()
            installing.end()
            raise


def _prove(place: Place, record: SmokeRecord, installing: Installing) -> smoke.SmokeResult | None:
    """Run the smoke job as soon as what it runs through is there."""
    wanted = place.smoke if place.smoke is not None else not record.passed()
    if not wanted or not set(SMOKE_COMPONENTS) <= set(place.names):
        return None
    record.forget()
    supplies = [place.supplies[name] for name in SMOKE_COMPONENTS]
    # Disks are slow: first the controllers that the job waits for, then its own image.
    for images in [*(each.controller for each in supplies), *(each.workload for each in supplies)]:
        place.loader.load(images)
    if not installing.reached(SMOKE_COMPONENTS):
        return None  # the install's own error says why
    result = smoke.run(
        place.cluster.kubeconfig, place.emit, timeout=place.timeout, cancelled=place.cancelled, gone=place.gone
    )
    record.keep()
    return result


def _load_workloads(place: Place, installing: Installing) -> None:
    """Load the images that only jobs use, where they are in nobody's way.

    That is while controllers still compile, else when all components are installed.
    """
    images = {name: future for each in place.supplies.values() for name, future in each.workload.items()}
    if not place.loader.lacks(images):
        return
    controllers = [future for each in place.supplies.values() for future in each.controller.values()]
    if all(future.done() for future in controllers):
        awaited: Sequence[str] = place.names
    else:
        awaited = [name for name in SMOKE_COMPONENTS if name in place.names]
    if not installing.reached(awaited):
        return  # the install's own error says why
    with step(place.emit, "load:workloads", "load images for jobs") as finish:
        for name, future in images.items():
            place.emit(StepProgress("load:workloads", name))
            place.loader.load({name: future})
        finish(f"{len(images)} images")
    lacking = [image for name in place.names for image in not_built(place.catalog.component(name))]
    if lacking:
        place.emit(Note(f"not on this cluster, as nothing here builds them: {', '.join(lacking)}"))
