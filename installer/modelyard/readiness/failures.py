"""An old failure told from one that came since. Pure.

A Deployment's ProgressDeadlineExceeded stays until one of its pods makes progress, whatever was mended, and its
observedGeneration changes only with its spec. Source: deploymentutil.SetDeploymentCondition in
k8s.io/kubernetes/pkg/controller/deployment/util: a condition is written anew only if its status or reason changes.
"""

from __future__ import annotations

import json

from modelyard.objects import GroupKind, Object, dig, ref_of
from modelyard.readiness.conditions import condition
from modelyard.readiness.status import Readiness, Status

_DEPLOYMENT = GroupKind("apps", "Deployment")


def failure_of(obj: Object | None, state: Readiness) -> str:
    """Return what tells a failure of `obj` from any other of its failures; empty where it has none.

    Args:
        obj: the object as last seen.
        state: how it was judged.
    """
    if obj is not None and ref_of(obj).group_kind == _DEPLOYMENT:
        progressing = condition(obj, "Progressing")
        return json.dumps(progressing, sort_keys=True) if progressing.get("status") == "False" else ""
    return f"generation {dig(obj, 'status', 'observedGeneration')}" if state.status is Status.FAILED else ""
