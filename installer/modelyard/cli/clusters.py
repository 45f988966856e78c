"""Which cluster a command speaks to."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from modelyard.errors import LocalClusterError

if TYPE_CHECKING:
    from modelyard.cluster import Session
    from modelyard.plan.lease import Holder

_SHOWN = 200  # characters of a command
DEFAULT_NAME = "modelyard"  # spec.DEFAULT_NAME; not imported, as `--help` is to be quick


def open_session(kubeconfig: Path | None, context: str | None, name: str | None) -> Session:
    """Open a session with the cluster that the options name.

    Args:
        kubeconfig: --kubeconfig; it, or a context, is taken as it is.
        context: --context.
        name: --name: an embedded cluster. With nothing given at all: the embedded cluster `modelyard` if
            there is one, else the default kubeconfig.

    Raises:
        LocalClusterError: there is no embedded cluster of that name.
        ClusterUnreachableError: the kubeconfig points nowhere, or nobody answers there.
    """
    from modelyard.cluster import connect

    if kubeconfig is None and context is None:
        kubeconfig = embedded_kubeconfig(name)
    return connect(kubeconfig, context)


def embedded_kubeconfig(name: str | None) -> Path | None:
    """Return the kubeconfig of the embedded cluster `name`; None where no name was given and there is none."""
    from modelyard.local.runtime.layout import layout

    found = layout(name or DEFAULT_NAME).kubeconfig
    if found.is_file():
        return found
    if name is not None:
        raise LocalClusterError(f"cluster {name}", "is not there", f"modelyard install --name {name}")
    return None


def this_holder() -> Holder:
    """Return this command, as others that want to change the same cluster are told of it."""
    from modelyard.apply import this_command

    return this_command(shlex.join(["modelyard", *sys.argv[1:]])[:_SHOWN])
