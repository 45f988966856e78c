"""Which cluster a command speaks to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from modelyard.errors import LocalClusterError

if TYPE_CHECKING:
    from modelyard.cluster import Session

DEFAULT_NAME = "modelyard"  # spec.DEFAULT_NAME; not imported, as `--help` is to be quick


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The cluster that options name.

    Args:
        kubeconfig: --kubeconfig; it, or a context, is taken as it is.
        context: --context.
        name: --name: an embedded cluster. With nothing given at all: the embedded cluster `modelyard` if
            there is one, else the default kubeconfig.
    """

    kubeconfig: Path | None = None
    context: str | None = None
    name: str | None = None

    @property
    def option(self) -> str:
        """Return the option that names a cluster that exists; empty where none does."""
        if self.context is not None:
            return "--context"
        return "--kubeconfig" if self.kubeconfig is not None else ""

    def found(self) -> Where:
        """Return the same with the embedded cluster's kubeconfig, where that is the one.

        Raises:
            LocalClusterError: there is no embedded cluster of that name.
        """
        return self if self.option else Where(kubeconfig=embedded_kubeconfig(self.name))

    def open(self) -> Session:
        """Open a session with the cluster.

        Raises:
            LocalClusterError: there is no embedded cluster of that name.
            ClusterUnreachableError: the kubeconfig points nowhere, or nobody answers there.
        """
        from modelyard.cluster import connect

        found = self.found()
        return connect(found.kubeconfig, found.context)


def embedded_kubeconfig(name: str | None) -> Path | None:
    """Return the kubeconfig of the embedded cluster `name`; None where no name was given and there is none."""
    from modelyard.local.state.layout import layout

    found = layout(name or DEFAULT_NAME).kubeconfig
    if found.is_file():
        return found
    if name is not None:
        raise LocalClusterError(f"cluster {name}", "is not there", f"modelyard install --name {name}")
    return None
