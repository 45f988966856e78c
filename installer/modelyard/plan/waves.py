"""In which order a component's objects are applied; each wave is ready before the next begins. Pure.

1. namespaces
2. CustomResourceDefinitions, until Established
3. accounts, roles, settings, Services
4. subscriptions of OLM, until it has installed what they name: the kinds of the objects that follow may come
   from there
5. custom resources of *other* components' kinds (a Certificate): their controllers are up, since the
   `requires` graph put those components first, and the workloads may need what comes of them
6. workloads
7. webhook configurations, API services, admission policies: what the workloads serve. Before them a
   configuration would only refuse what it intercepts, also pods of the workloads themselves
8. custom resources of the component's own kinds: their webhooks answer now; and those of the Gateway API,
   whoever brings its kinds: their controller is one of the workloads
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from modelyard.objects import GroupKind, Object, ref_of, text
from modelyard.plan import kinds


class Stage(IntEnum):
    """The waves, in their order."""

    NAMESPACES = 1
    DEFINITIONS = 2
    SETTINGS = 3
    OPERATORS = 4
    REQUIREMENTS = 5
    WORKLOADS = 6
    EXTENSIONS = 7
    RESOURCES = 8


@dataclass(frozen=True, slots=True)
class Wave:
    """Objects that are applied together, in this order."""

    stage: Stage
    objects: tuple[Object, ...]


def waves(objects: Iterable[Object]) -> tuple[Wave, ...]:
    """Return the non-empty waves of `objects`; within one, by kind, namespace and name."""
    everything = list(objects)
    own = defined_kinds(everything)
    by_stage: dict[Stage, list[Object]] = {}
    for obj in sorted(everything, key=_within_wave):
        by_stage.setdefault(stage_of(ref_of(obj).group_kind, own), []).append(obj)
    return tuple(Wave(stage, tuple(by_stage[stage])) for stage in sorted(by_stage))


def stage_of(kind: GroupKind, own: frozenset[GroupKind]) -> Stage:
    """Return the wave of a kind; `own` are the kinds that the component's CRDs define."""
    if kind == kinds.NAMESPACE:
        return Stage.NAMESPACES
    if kind == kinds.CRD:
        return Stage.DEFINITIONS
    if kind in kinds.WORKLOADS:
        return Stage.WORKLOADS
    if kind in kinds.EXTENSIONS:
        return Stage.EXTENSIONS
    if kind.group == kinds.OLM:
        return Stage.OPERATORS
    if kind in own or kind.group == kinds.GATEWAY_API:
        return Stage.RESOURCES
    return Stage.REQUIREMENTS if kinds.is_custom(kind) else Stage.SETTINGS


def defined_kinds(objects: Iterable[Object]) -> frozenset[GroupKind]:
    """Return the kinds that the CustomResourceDefinitions among `objects` define."""
    return frozenset(
        GroupKind(text(obj, "spec", "group"), text(obj, "spec", "names", "kind"))
        for obj in objects
        if ref_of(obj).group_kind == kinds.CRD
    )


def _within_wave(obj: Object) -> tuple[int, str, str, str, str]:
    ref = ref_of(obj)
    place = kinds.ORDER.index(ref.kind) if ref.kind in kinds.ORDER else len(kinds.ORDER)
    return place, ref.kind, ref.group, ref.namespace, ref.name
