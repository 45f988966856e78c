"""A cluster that exists: the one that a kubeconfig names."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from threading import Event

from modelyard import apply
from modelyard.cluster import Session, connect
from modelyard.platform.asked import Asked
from modelyard.platform.blueprint import Blueprint
from modelyard.platform.clusters.protocol import Ready
from modelyard.platform.settled import Settled
from modelyard.platform.where import Where


class Existing:
    """A cluster behind a kubeconfig.

    Args:
        where: which one.
        blueprint: what is to be installed.
    """

    embedded = ""

    def __init__(self, where: Where, blueprint: Blueprint) -> None:
        self._where = where
        self._blueprint = blueprint
        self._session: Session | None = None
        self._target = blueprint.catalog.inherited(blueprint.target)

    def accept(self, asked: Asked) -> Asked:
        """See Cluster: all holds."""
        return asked

    def find(self) -> Session | None:
        """See Cluster: before rendering, as a kubeconfig that points nowhere is soon said."""
        return self.existing()

    def existing(self) -> Session:
        """See Cluster."""
        if self._session is None:
            session = connect(self._where.kubeconfig, self._where.context)
            if not self._blueprint.aim.force:
                apply.refuse_other_platforms(session, self._target)
            self._session = session
        return self._session

    def check(self, session: Session, names: Collection[str]) -> None:
        """See Cluster: what the target's prerequisites list."""
        if not self._blueprint.aim.force:
            apply.refuse_missing_prerequisites(session, self._target, names)

    @contextmanager
    def ready(self, settled: Settled | None, cancelled: Event) -> Iterator[Ready]:
        """See Cluster: it is there."""
        yield Ready(self.existing())
