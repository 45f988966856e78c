"""Look on a cluster for what a target asks of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from modelyard.catalog.models import Target
from modelyard.catalog.prerequisites import (
    ApiTest,
    NodeTest,
    ObjectTest,
    Prerequisite,
    PrerequisiteTest,
    StorageClassTest,
    VersionTest,
)
from modelyard.cluster import ApiError, Session
from modelyard.errors import RefusalError
from modelyard.objects import GroupKind, Object, ObjectRef
from modelyard.plan.prerequisites import Evidence, Verdict, asked_for, judge, refusals

_NODE = GroupKind("", "Node")
_STORAGE_CLASS = GroupKind("storage.k8s.io", "StorageClass")


def check_prerequisites(session: Session, prerequisites: Mapping[str, Prerequisite]) -> list[Verdict]:
    """Return, for each prerequisite, whether it is there; one that may not be read counts as not there.

    Raises:
        ClusterUnreachableError: the cluster does not answer.
    """
    return [_verdict(session, name, each) for name, each in prerequisites.items()]


def refuse_missing_prerequisites(session: Session, target: Target, components: Collection[str]) -> None:
    """Look for what an install of these components must not go on without.

    Raises:
        RefusalError: names the first such prerequisite, what was found, and how to fix it.
    """
    asked = {name: each for name, each in asked_for(target, components).items() if each.refuses}
    for verdict in refusals(check_prerequisites(session, asked)):
        wanted = verdict.prerequisite
        about = f"component {', '.join(wanted.components)}" if wanted.components else f"target {target.name}"
        raise RefusalError(
            f"cluster {session.server}",
            f"{verdict.found}; {about} asks for: {wanted.what}",
            f"{wanted.fix}; all that is asked for: modelyard doctor --target {target.name}; "
            "to go on all the same: --force-target",
        )


def _verdict(session: Session, name: str, wanted: Prerequisite) -> Verdict:
    if wanted.test is None:
        return Verdict(name, wanted, None, f"look yourself: {wanted.command}")
    try:
        ok, found = judge(wanted.test, _seen(session, wanted.test))
    except ApiError as error:
        ok, found = False, f"cannot be read: {error.message}"
    return Verdict(name, wanted, ok, found)


def _seen(session: Session, test: PrerequisiteTest) -> Evidence:
    match test:
        case VersionTest():
            return Evidence(version=session.check())
        case ApiTest():
            known = (resource.kind for resource in session.discovery.all())
            return Evidence(kinds={kind.kind for kind in known if kind.group == test.group})
        case ObjectTest():
            found = session.get(ObjectRef(test.group, test.kind, test.namespace, test.name))
            return Evidence(objects=() if found is None else (found,))
        case StorageClassTest():
            return Evidence(objects=_all(session, _STORAGE_CLASS))
        case NodeTest():
            return Evidence(objects=_all(session, _NODE))


def _all(session: Session, kind: GroupKind) -> tuple[Object, ...]:
    listing = session.list(kind)
    return listing.items if listing is not None else ()
