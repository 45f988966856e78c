"""What holds for a target because it holds for the target that it is on. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from modelyard.catalog.models import Target


def inherited(chain: Sequence[Target]) -> Target:
    """Return a target, with what its bases say of their clusters, ask of them, and leave out.

    What the target says itself goes before: an API group that it requires is not refused because its base does so.

    Args:
        chain: the target, then the target that it is on, and so on down to the last.
    """
    result = chain[-1]
    for target in reversed(chain[:-1]):
        result = _on(target, result)
    return result


def completed(target: Target, base: Target) -> Target:
    """Return a target of the catalogue with the components that it has and offers because its base does.

    Args:
        target: as its file has it.
        base: the target that it is on, completed itself.
    """
    beside = {*target.leavesOut, *target.offered}
    profiles = target.profiles or {
        name: (*(each for each in listed if each not in beside), *target.adds.get(name, ()))
        for name, listed in base.profiles.items()
    }
    has = {each for listed in profiles.values() for each in listed}
    offered = {name: when for name, when in base.offered.items() if name not in has and name not in target.leavesOut}
    return target.model_copy(update={"profiles": profiles, "offered": offered | target.offered})


def _on(target: Target, base: Target) -> Target:
    refused, required = target.refusesApiGroups, target.requiresApiGroups
    external = {
        kind: _union(target.external.get(kind, ()), base.external.get(kind, ()))
        for kind in _union(tuple(target.external), tuple(base.external))
    }
    return target.model_copy(
        update={
            "fixedNodes": base.fixedNodes or target.fixedNodes,
            "leavesOut": base.leavesOut | target.leavesOut,
            "external": external,
            "requiresApiGroups": _union(required, tuple(g for g in base.requiresApiGroups if g not in refused)),
            "refusesApiGroups": _union(refused, tuple(g for g in base.refusesApiGroups if g not in required)),
            "storageClasses": base.storageClasses | target.storageClasses,
            "gpuNodes": target.gpuNodes or base.gpuNodes,
            "prerequisites": base.prerequisites | target.prerequisites,
            "differences": (*(each for each in base.differences if each.inherited), *target.differences),
        }
    )


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
