"""What an install needs of a cluster, whatever kind it is of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Protocol

from modelyard.apply import Comparison, Installing
from modelyard.apply.install import Prepare
from modelyard.cluster import Session
from modelyard.errors import OptionError
from modelyard.platform.asked import Asked
from modelyard.platform.settled import Settled
from modelyard.platform.where import DEFAULT_NAME
from modelyard.smoke import Outcome

Beside = Callable[[Comparison, Installing], AbstractContextManager[Outcome]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedOptions:
    """What is said of an embedded cluster; None: as before, or the default.

    Args:
        name: its name.
        nodes: number of nodes.
        fake_nodes: number of simulated nodes.
        fake_gpus: GPUs of each simulated node.
        port: port on 127.0.0.1.
        smoke: run the smoke job at the end; None: unless it passed before on the very same platform.
        given: the options that were given on the command line, as they were written.
    """

    name: str | None = None
    nodes: int | None = None
    fake_nodes: int | None = None
    fake_gpus: int | None = None
    port: int | None = None
    smoke: bool | None = None
    given: tuple[str, ...] = ()

    @property
    def cluster(self) -> str:
        """Return the embedded cluster's name."""
        return self.name or DEFAULT_NAME

    def refuse(self, why: str) -> None:
        """Refuse what was given on the command line, where it means nothing; $MODELYARD_NAME alone is no reason.

        Args:
            why: what stands against it, to go after "not with".

        Raises:
            OptionError: something was.
        """
        if self.given:
            verb = "goes" if len(self.given) == 1 else "go"
            raise OptionError(", ".join(self.given), f"{verb} with an embedded cluster, not with {why}")


@contextmanager
def nothing_beside(comparison: Comparison, installing: Installing) -> Iterator[Outcome]:
    """Do nothing while components are installed; there is no smoke job."""
    yield lambda: None


@dataclass(frozen=True, slots=True)
class Ready:
    """A cluster on which components can be installed.

    Args:
        session: the cluster.
        prepare: called in a component's thread before it is applied; may block.
        beside: what runs while components are installed; gives what waits for the smoke job's result.
    """

    session: Session
    prepare: Prepare | None = None
    beside: Beside = nothing_beside


class Cluster(Protocol):
    """A cluster to install on, which may not be there yet."""

    @property
    def embedded(self) -> str:
        """Return its name, where it is an embedded one; else an empty one."""

    def accept(self, asked: Asked) -> Asked:
        """Return what is asked for as it holds for such a cluster.

        Raises:
            ModelyardError: something in it means nothing there.
        """

    def find(self) -> Session | None:
        """Return a session with the cluster, brought back up where it is down; None where it was never there.

        Raises:
            ModelyardError: it is of another kind, does not answer, or cannot be brought up.
        """

    def existing(self) -> Session:
        """Return a session with the cluster as it is; nothing is started or made.

        Raises:
            ModelyardError: there is none, or it is of another kind.
        """

    def check(self, session: Session, names: Collection[str]) -> None:
        """Refuse a cluster that lacks what some components need.

        Raises:
            RefusalError: it does.
        """

    def ready(self, settled: Settled | None, cancelled: Event) -> AbstractContextManager[Ready]:
        """Give the cluster, made where it is not there, and what its components need beside it.

        Args:
            settled: what will be installed, where that must be known before; an embedded cluster builds images of it.
            cancelled: set when the install is to stop, and by the cluster when it is no more.
        """
