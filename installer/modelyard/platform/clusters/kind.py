"""A kind cluster for target `kind`: the one that is there, or a new one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

from modelyard.cluster import Session
from modelyard.errors import HostError
from modelyard.events import Emit
from modelyard.platform.blueprint import Blueprint
from modelyard.platform.clusters.existing import Existing
from modelyard.platform.clusters.protocol import Ready
from modelyard.platform.settled import Settled
from modelyard.platform.where import Where
from modelyard.programs import run
from modelyard.steps import step

NAME = "modelyard"
CONTEXT = f"kind-{NAME}"
CREATE_SECONDS = 600
ASK_SECONDS = 30


class Kind(Existing):
    """The kind cluster `modelyard`.

    Args:
        blueprint: what is to be installed.
        emit: takes the events.
    """

    TARGET = "kind"

    def __init__(self, blueprint: Blueprint, emit: Emit) -> None:
        super().__init__(Where(context=CONTEXT), blueprint)
        self._emit = emit

    def find(self) -> Session | None:
        """See Cluster."""
        return super().find() if is_there() else None

    @contextmanager
    def ready(self, settled: Settled | None, cancelled: Event) -> Iterator[Ready]:
        """See Cluster: made, now that nothing speaks against it."""
        if not is_there():
            create(self._emit)
        with super().ready(settled, cancelled) as ready:
            yield ready


def is_there() -> bool:
    """Tell whether there is a kind cluster `modelyard`.

    Raises:
        HostError: kind or Docker is missing, or does not answer.
    """
    missing = [name for name in ("docker", "kind") if shutil.which(name) is None]
    if missing:
        raise _lacking(f"{' and '.join(missing)} cannot be found")
    docker = run(["docker", "info", "--format", "{{.ServerVersion}}"], seconds=ASK_SECONDS)
    if docker.problem:
        raise _lacking(f"docker does not answer ({docker.problem})")
    clusters = run(["kind", "get", "clusters"], seconds=ASK_SECONDS)
    if clusters.problem:
        raise _lacking(f"kind does not answer ({clusters.problem})")
    return NAME in clusters.text.split()


def create(emit: Emit) -> None:
    """Create the kind cluster `modelyard`, and its context in the kubeconfig.

    Raises:
        HostError: kind fails.
    """
    with step(emit, "kind", f"create kind cluster {NAME}"):
        done = run(["kind", "create", "cluster", "--name", NAME, "--wait", "120s"], seconds=CREATE_SECONDS)
        if done.problem:
            raise HostError(
                f"kind cluster {NAME}", f"cannot be created: {done.problem}", f"kind delete cluster --name {NAME}"
            )


def _lacking(what: str) -> HostError:
    return HostError(
        "target kind",
        f"needs Docker and kind, and {what}; target `local` needs neither",
        "modelyard install --target local",
    )
