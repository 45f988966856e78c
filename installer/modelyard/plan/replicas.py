"""How many replicas are sent for a workload: the manifest's number, unless somebody else decides. Pure."""

from __future__ import annotations

from modelyard.objects import Object, dig, mapping, ref_of
from modelyard.readiness.replicas import SCALED, is_autoscaled


def with_replicas(desired: Object, live: Object | None) -> Object:
    """Return what is sent for `desired`, given what lives.

    An autoscaler's number is left alone. Where the manifest names none and the workload was scaled to zero, one is
    named: nothing else would bring it back, for the apiserver's default holds for new objects alone.
    """
    if live is None or ref_of(desired).group_kind not in SCALED:
        return desired
    named = dig(desired, "spec", "replicas") is not None
    if is_autoscaled(live):
        return _with(desired, None) if named else desired
    return desired if named or dig(live, "spec", "replicas") != 0 else _with(desired, 1)


def _with(desired: Object, replicas: int | None) -> Object:
    spec = {key: value for key, value in mapping(desired, "spec").items() if key != "replicas"}
    return {**desired, "spec": spec if replicas is None else {**spec, "replicas": replicas}}
