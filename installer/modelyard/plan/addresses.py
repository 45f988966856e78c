"""Addresses that whereabouts has given to pods, and who needs it to give them back. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from modelyard.objects import GroupKind, Object, mapping, text

POOL = GroupKind("whereabouts.cni.cncf.io", "IPPool")
ATTACHMENT = GroupKind("k8s.cni.cncf.io", "NetworkAttachmentDefinition")


def holders(pools: Iterable[Object], pods: Collection[str]) -> list[str]:
    """Return the pods that have an address of `pools`, as "namespace/name".

    A pool outlives its pods, and what a node that died has left in it is given back later.

    Args:
        pools: IPPools, with their spec.
        pods: all pods that are there.
    """
    given = {text(each, "podref") for pool in pools for each in mapping(pool, "spec", "allocations").values()}
    return sorted(given & set(pods))


def strands_pods(going: Collection[GroupKind]) -> bool:
    """Tell whether pods could no longer be deleted: who asks for their addresses to be given back stays, alone.

    A pod's end asks multus, which asks whereabouts, which fails without its rights: the kubelet asks for ever. Without
    multus nobody is asked.

    Args:
        going: the kinds that go, with those who serve them.
    """
    return POOL in going and ATTACHMENT not in going
