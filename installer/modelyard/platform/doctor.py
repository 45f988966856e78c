"""Check what an install needs, before it: this machine, or the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from modelyard.errors import OptionError
from modelyard.platform.asked import DEFAULT_TARGET, Asked
from modelyard.platform.where import Where

if TYPE_CHECKING:
    from modelyard.local.host.preflight import Check
    from modelyard.plan.prerequisites import Verdict


@dataclass(frozen=True, slots=True)
class Line:
    """One check as it is shown.

    Args:
        name: what is checked.
        ok: whether it is there; None where only people can see that.
        found: what is there, in words.
        needed: what is needed, in words.
        remedy: the next command, or what to do; empty where it is ok.
    """

    name: str
    ok: bool | None
    found: str
    needed: str
    remedy: str


def diagnose(asked: Asked, where: Where) -> list[Line]:
    """Return the checks of what an install needs: of this machine on target `local`, else of the cluster.

    Args:
        asked: the target and the components.
        where: the cluster.

    Raises:
        OptionError: a cluster is named, and no target for it.
        ModelyardError: a name is not there, or the cluster does not answer.
    """
    if asked.target in (None, DEFAULT_TARGET) and asked.overlay is None:
        if where.option:
            raise OptionError(where.option, "names a cluster; add the --target that it is to be")
        return _of_machine()
    from modelyard.catalog import load
    from modelyard.paths import data_root

    catalog, target = asked.open(load(data_root()))
    if catalog.base(target) == DEFAULT_TARGET:
        return _of_machine()
    from modelyard.apply import check_prerequisites
    from modelyard.catalog.choice import DEFAULT_PROFILE
    from modelyard.cluster import connect
    from modelyard.plan.prerequisites import asked_for

    whole = bool(asked.components or asked.profile)
    names = (asked if whole else replace(asked, profile=DEFAULT_PROFILE)).compose(catalog, target).names
    prerequisites = asked_for(catalog.inherited(target), catalog.select(names))
    return [_of_cluster(each) for each in check_prerequisites(connect(where.kubeconfig, where.context), prerequisites)]


def _of_machine() -> list[Line]:
    from modelyard.local.host.facts import gather
    from modelyard.local.host.preflight import checks
    from modelyard.paths import cache_dir, state_dir

    return [_of_host(each) for each in checks(gather(state_dir(), cache_dir()))]


def _of_host(check: Check) -> Line:
    return Line(check.name, check.ok, check.found, check.needed, check.remedy)


def _of_cluster(verdict: Verdict) -> Line:
    wanted = verdict.prerequisite
    remedy = "" if verdict.ok or verdict.ok is None else wanted.fix
    return Line(verdict.name, verdict.ok, verdict.found, wanted.what, remedy)


def passed(lines: Sequence[Line]) -> bool:
    """Tell whether nothing is known to be missing."""
    return all(line.ok is not False for line in lines)
