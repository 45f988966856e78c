"""The embedded cluster: built, started and filled with images, all overlapped.

The order in which things become possible:

    control plane compiled -> cluster up -> component applied as soon as its images are there
                                            -> smoke job as soon as what it runs through is ready
    (controllers and Python images go on being built all the while)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event

from modelyard.catalog import Component
from modelyard.cluster import Session, connect
from modelyard.errors import CatalogError
from modelyard.events import Emit
from modelyard.local import ClusterInfo, ClusterSpec, up
from modelyard.local.build.binaries import HELM, KUSTOMIZE
from modelyard.local.build.cluster_set import cluster_binaries, request_set
from modelyard.local.build.debian import ensure_host_packages
from modelyard.local.build.queue import BuildQueue
from modelyard.local.build.toolchain import find_go
from modelyard.local.lifecycle.bring_up import fit_host
from modelyard.local.state.layout import layout
from modelyard.local.state.record import read_record, running_supervisor
from modelyard.local.state.remembered import Shape, spec_like_before
from modelyard.platform.asked import Asked
from modelyard.platform.blueprint import Blueprint
from modelyard.platform.clusters.protocol import EmbeddedOptions, Ready
from modelyard.platform.embedded import supply
from modelyard.platform.embedded.alive import alive
from modelyard.platform.embedded.announce import announce
from modelyard.platform.embedded.beside import Place, beside
from modelyard.platform.embedded.kubectl import offer_kubectl
from modelyard.platform.embedded.loading import Loader
from modelyard.platform.settled import Settled
from modelyard.platform.where import DEFAULT_NAME, embedded_kubeconfig


class Embedded:
    """An embedded cluster of this machine.

    Args:
        options: what is said of it.
        blueprint: what is to be installed.
        timeout: seconds that each single wait may last.
        emit: takes the events; called from several threads.
    """

    TARGET = "local"

    def __init__(self, options: EmbeddedOptions, blueprint: Blueprint, timeout: float, emit: Emit) -> None:
        self.embedded = options.cluster
        self._options = options
        self._blueprint = blueprint
        self._timeout = timeout
        self._emit = emit

    @property
    def _cache(self) -> Path:
        return self._blueprint.workspace.cache_dir

    def accept(self, asked: Asked) -> Asked:
        """See Cluster: it pulls nothing, so no mirror means anything, and none that was kept holds."""
        if asked.mirror is not None:
            raise CatalogError(
                f"mirror {asked.mirror}",
                f"target {self.TARGET} pulls nothing, so there is nothing to mirror: it builds its images under "
                "upstream's names",
                "leave --mirror out, or name a cluster that pulls: --target kind, --context NAME",
            )
        return replace(asked, no_mirror=True)

    def find(self) -> Session | None:
        """See Cluster: it knows what was chosen for it."""
        spec, paths = self._spec(), layout(self.embedded)
        if read_record(paths) is None:
            return None
        if running_supervisor(paths) is None:
            ensure_host_packages(self._emit)
            fit_host(self.embedded, self._cache)  # before minutes of compiling
            binaries, pause_image = cluster_binaries(self._cache, self._emit)
            up(spec, binaries, pause_image, self._emit, timeout=self._timeout)
        return connect(paths.kubeconfig)

    def existing(self) -> Session:
        """See Cluster."""
        return connect(embedded_kubeconfig(self._options.name or DEFAULT_NAME))

    def check(self, session: Session, names: Collection[str]) -> None:
        """See Cluster: it is made to have all that they need."""

    @contextmanager
    def ready(self, settled: Settled | None, cancelled: Event) -> Iterator[Ready]:
        """See Cluster: running it again goes on where it was; built things are in the cache."""
        assert settled is not None  # images are built for it
        ensure_host_packages(self._emit)
        fit_host(self.embedded, self._cache)
        queue = BuildQueue(find_go(self._cache), self._cache, self._emit)
        try:
            with queue.gathering():
                cluster_set = request_set(queue)
                queue.binary(KUSTOMIZE)
                queue.binary(HELM)
                supplies = supply.request(queue, self._blueprint.catalog, settled.names)
                announce(queue, self._cache, self._emit)
            info = up(self._spec(), *cluster_set(), self._emit, timeout=self._timeout)
            offer_kubectl(queue)
            with self._alive(info, supplies, settled, cancelled) as ready:
                yield ready
        finally:
            queue.close(cancel=True)

    @contextmanager
    def _alive(
        self, info: ClusterInfo, supplies: Mapping[str, supply.Supply], settled: Settled, cancelled: Event
    ) -> Iterator[Ready]:
        session = connect(info.kubeconfig)

        def stop() -> None:
            cancelled.set()
            session.transport.cancelled.set()

        with alive(layout(self.embedded), stop) as gone:
            loader = Loader(self.embedded, cancelled)
            place = Place(
                cluster=info,
                root=layout(self.embedded).root,
                catalog=self._blueprint.catalog,
                names=settled.names,
                supplies=supplies,
                loader=loader,
                smoke=self._options.smoke,
                emit=self._emit,
                timeout=self._timeout,
                cancelled=cancelled,
                gone=gone,
            )

            def prepare(component: Component) -> None:
                loader.load(supplies[component.name].controller)

            yield Ready(session, prepare, lambda compared, installing: beside(place, compared, installing))

    def _spec(self) -> ClusterSpec:
        options = self._options
        shape = Shape(options.nodes, options.fake_nodes, options.fake_gpus)
        return spec_like_before(self.embedded, shape, port=options.port)
