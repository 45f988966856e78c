"""Pods that could not end without a component. Pure."""

from __future__ import annotations

from collections.abc import Collection

from modelyard.catalog.removal import Holds
from modelyard.objects import Object
from modelyard.plan.paths_in import strings_at


def held_pods(rule: Holds, obj: Object, pods: Collection[str]) -> list[str]:
    """Return the pods that an object holds, as "namespace/name"; it may name some that are gone.

    Args:
        rule: where the object names them.
        obj: an object of the rule's kind.
        pods: all pods that are there.
    """
    return sorted(set(strings_at(obj, rule.path)) & set(pods))


def strands_pods(rule: Holds, component: str, going: Collection[str]) -> bool:
    """Tell whether pods could no longer end: the component goes, and who asks it at a pod's end stays.

    Args:
        rule: the component's.
        component: its name.
        going: the components that go.
    """
    return component in going and rule.asks not in going
