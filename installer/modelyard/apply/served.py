"""Wait until the cluster has kinds whose CRDs others bring: OLM for what a Subscription names, or the platform."""

from __future__ import annotations

import time
from collections.abc import Collection

from modelyard.apply.run import Run
from modelyard.errors import NotReadyError
from modelyard.objects import GroupKind

ASK_SECONDS = 1.0
SUBSCRIPTION = GroupKind("operators.coreos.com", "Subscription")


def wait_served(run: Run, key: str, wanted: Collection[GroupKind]) -> None:
    """Wait until the apiserver serves every kind of `wanted`.

    Args:
        run: the run.
        key: the step that is told of the progress.
        wanted: the kinds of all objects of the component.

    Raises:
        NotReadyError: the deadline passed; names the kinds that are missing.
    """
    deadline = run.deadline()
    while missing := [str(kind) for kind in sorted(wanted) if run.session.discovery.find(kind) is None]:
        run.check()
        if time.monotonic() >= deadline:
            raise NotReadyError(
                f"kind {missing[0]}",
                f"is not served after {run.timeout:g} s; missing: {', '.join(missing)}",
                _remedy(wanted),
            )
        run.progress(key, f"waiting for kinds: {', '.join(missing)}")
        run.cancelled.wait(ASK_SECONDS)


def _remedy(wanted: Collection[GroupKind]) -> str:
    if SUBSCRIPTION in wanted:
        return "kubectl get subscriptions.operators.coreos.com,clusterserviceversions --all-namespaces"
    return "install what serves them (modelyard doctor --target TARGET says what a cluster must have), or --without it"
