"""How a component's objects go, as component.yaml says: what is in use, what is nobody's data. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, TypeVar

from pydantic import Field

from modelyard.catalog.fields import Model, Name
from modelyard.catalog.graph import closure
from modelyard.objects import GroupKind

T = TypeVar("T")

# As inventories write a kind: Workload.kueue.x-k8s.io; of Kubernetes' core: Secret.
KindName = Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]*(\.[a-z0-9][a-z0-9.-]*)?$")]
Path = Annotated[str, Field(pattern=r"^[A-Za-z0-9*]+(\.[A-Za-z0-9*]+)*$")]


def group_kind(name: str) -> GroupKind:
    """Return the kind that is written as <Kind>.<group>."""
    kind, _, group = name.partition(".")
    return GroupKind(group, kind)


class Drain(Model):
    """Objects that are not deleted while others use them: their controller keeps them until it has stopped those."""

    kind: KindName = Field(description="what is used")
    users: KindName = Field(description="what uses it, without saying so in ownerReferences")
    path: Path = Field(description="where a user names what it uses")
    until: str = Field(description="type of the condition with which a user uses it no longer", min_length=1)
    patch: dict[str, object] = Field(description="what of it is changed, so that its controller stops its users")


class Holds(Model):
    """Objects that list pods, which could not end without the component."""

    kind: KindName = Field(description="what lists pods; an object that lists none is nobody's data")
    path: Path = Field(description="where it names them, as <namespace>/<name>; * is each key or item")
    asks: Name = Field(description="the component that needs this one at a pod's end; without it nobody does")


class ByProduct(Model):
    """Objects that controllers make for themselves: nobody's data."""

    kind: KindName = Field(description="their kind")
    owned: bool = Field(default=False, description="those with an owner; they go with what they keep books of")
    labels: tuple[str, ...] = Field(default=(), description="those with one of these labels")
    annotations: tuple[str, ...] = Field(default=(), description="those with one of these annotations")


class RemovalRules(Model):
    """What an uninstall must know of a component beside its objects."""

    drains: tuple[Drain, ...] = Field(default=(), description="what must not be taken away from under its users")
    holds: tuple[Holds, ...] = Field(default=(), description="what pods need to end")
    byProducts: tuple[ByProduct, ...] = Field(  # noqa: N815
        default=(), description="what controllers make for themselves, in whosever namespace"
    )


NO_RULES = RemovalRules()


def with_required(name: str, rules: Mapping[str, RemovalRules], requires: Mapping[str, Sequence[str]]) -> RemovalRules:
    """Return a component's rules with those that hold for its objects because of what it requires, whoever provides it.

    What pods need is the affair of the component that says so alone.

    Args:
        name: the component.
        rules: of each component of the catalogue.
        requires: the catalogue's graph.
    """
    needed = [rules[each] for each in sorted(closure([name], requires)) if each in rules]
    all_of_them = merged(needed)
    own = rules[name].holds if name in rules else ()
    return RemovalRules(drains=all_of_them.drains, holds=own, byProducts=all_of_them.byProducts)


def merged(rules: Iterable[RemovalRules]) -> RemovalRules:
    """Return the rules of several components as one, each once."""
    found = tuple(rules)
    return RemovalRules(
        drains=_once(each for one in found for each in one.drains),
        holds=_once(each for one in found for each in one.holds),
        byProducts=_once(each for one in found for each in one.byProducts),
    )


def _once(rules: Iterable[T]) -> tuple[T, ...]:
    kept: list[T] = []
    for each in rules:  # not all of them can be hashed
        if each not in kept:
            kept.append(each)
    return tuple(kept)
