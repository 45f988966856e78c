"""Which target an install on a cluster is for: what was asked for, and what the cluster remembers. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from modelyard.catalog.choice import Choice
from modelyard.plan.embedded import LOCAL
from modelyard.plan.inventory import Inventory


@dataclass(frozen=True, slots=True)
class Memory:
    """What a cluster says of its target.

    Args:
        targets: what it was installed for; empty for a new cluster, several only where modelyard did not yet keep
            the target and components of different ones are there.
        embedded: its name as an embedded cluster; empty for any other.
    """

    targets: tuple[str, ...]
    embedded: str


@dataclass(frozen=True, slots=True)
class Aim:
    """The target of an install.

    Args:
        names: what it is called: its name and, for a user's overlay, that of the target it is on.
        base: the target on which it rests in the end.
        force: `--force-target`.
    """

    names: tuple[str, ...]
    base: str
    force: bool

    def __str__(self) -> str:
        return " on ".join(self.names)


def remembered(choice: Choice | None, inventories: Iterable[Inventory]) -> tuple[str, ...]:
    """Return what a cluster was installed for: as it was chosen, else as its inventories say."""
    if choice is not None and choice.target:
        return (choice.target,)
    return tuple(sorted({item.target for item in inventories if item.target}))


def unasked(memory: Memory) -> str:
    """Return the target of an install that names none; empty where one must be named."""
    if len(memory.targets) == 1:
        return memory.targets[0]
    return LOCAL if not memory.targets and memory.embedded else ""


def another(names: Collection[str], memory: Memory) -> str:
    """Return what the cluster was installed for, if that is another target than that of `names`; else empty."""
    return "" if not memory.targets or set(names) & set(memory.targets) else ", ".join(memory.targets)


def wrong_machine(base: str, memory: Memory) -> str:
    """Return why a cluster is no place for a target: `local` is for embedded clusters, and these are for it alone.

    Args:
        base: the target on which the install's rests in the end.
        memory: the cluster's.
    """
    if base == LOCAL and not memory.embedded:
        return f"is not an embedded cluster, and the images of target {LOCAL} exist nowhere else"
    if base != LOCAL and memory.embedded:
        return f"is the embedded cluster {memory.embedded}, which has the images of target {LOCAL} and pulls none"
    return ""
