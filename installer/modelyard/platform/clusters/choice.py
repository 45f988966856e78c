"""Which kind of cluster an install is on."""

from __future__ import annotations

from modelyard.events import Emit
from modelyard.platform.blueprint import Blueprint
from modelyard.platform.clusters.embedded import Embedded
from modelyard.platform.clusters.existing import Existing
from modelyard.platform.clusters.kind import Kind
from modelyard.platform.clusters.protocol import Cluster, EmbeddedOptions
from modelyard.platform.where import Where


def cluster_for(where: Where, options: EmbeddedOptions, blueprint: Blueprint, timeout: float, emit: Emit) -> Cluster:
    """Return the cluster: the one that is named, else the one that comes with the target.

    Args:
        where: the options that name a cluster.
        options: those of embedded clusters.
        blueprint: what is to be installed.
        timeout: seconds that each single wait may last.
        emit: takes the events.

    Raises:
        OptionError: options of embedded clusters were given, and it is none.
    """
    kind = None if where.option else _kind_of(blueprint)
    if kind == Embedded.TARGET:
        return Embedded(options, blueprint, timeout, emit)
    options.refuse(f"target {blueprint.target}")
    if kind == Kind.TARGET:
        return Kind(blueprint, emit)
    return Existing(where, blueprint)


def _kind_of(blueprint: Blueprint) -> str | None:
    """Return the target that says which cluster it is: the first of those that the target is on."""
    names = (each.name for each in blueprint.catalog.chain(blueprint.target))
    return next((name for name in names if name in (Embedded.TARGET, Kind.TARGET)), None)
