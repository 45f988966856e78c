"""From a kubeconfig to a session."""

from __future__ import annotations

from pathlib import Path

from modelyard.cluster.endpoint import Endpoint, of_certificates
from modelyard.cluster.session import Session
from modelyard.cluster.transport import PATIENCE_SECONDS, Transport
from modelyard.errors import ClusterUnreachableError

_REMEDY = "name a kubeconfig by --kubeconfig, or start a cluster with `modelyard local up`"


def connect(
    kubeconfig: Path | None = None, context: str | None = None, *, patience: float = PATIENCE_SECONDS
) -> Session:
    """Open a session.

    Args:
        kubeconfig: the file; None: $KUBECONFIG, then the default.
        context: a context of it; None: the current one.
        patience: seconds to keep trying when the apiserver does not answer.

    Raises:
        ClusterUnreachableError: no such file or context, or nobody answers there.
    """
    shown = str(kubeconfig) if kubeconfig else "the default kubeconfig"
    if kubeconfig is not None and not kubeconfig.is_file():
        raise ClusterUnreachableError(f"kubeconfig {kubeconfig}", "is not there", _REMEDY)
    try:
        endpoint = _endpoint(kubeconfig, context)
    except (OSError, ValueError) as error:
        subject = f"context {context} of {shown}" if context else shown
        raise ClusterUnreachableError(subject, f"cannot be used: {error}", _REMEDY) from error
    session = Session(Transport(endpoint, patience=patience))
    session.check()
    return session


def _endpoint(kubeconfig: Path | None, context: str | None) -> Endpoint:
    plain = of_certificates(kubeconfig) if kubeconfig is not None and context is None else None
    if plain is not None:
        return plain
    from modelyard.cluster.official import of_kubeconfig  # half a second

    return of_kubeconfig(kubeconfig, context)
