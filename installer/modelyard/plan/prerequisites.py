"""Is what a target asks of a cluster there? Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

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
from modelyard.objects import Object, annotations_of, dig, labels_of, text
from modelyard.quantity import parse
from modelyard.readiness import assess

# Source: https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a cluster shows for one test.

    Args:
        version: its version, for a test of it.
        kinds: the kinds of the API group that the test names.
        objects: the object that the test names, or all of the kind that it looks through.
    """

    version: str = ""
    kinds: Collection[str] = ()
    objects: Sequence[Object] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one prerequisite.

    Args:
        name: its name in target.yaml.
        prerequisite: what was to be there.
        ok: whether it is; None where only people can see that.
        found: what is there, in words.
    """

    name: str
    prerequisite: Prerequisite
    ok: bool | None
    found: str


def asked_for(target: Target, components: Collection[str]) -> Mapping[str, Prerequisite]:
    """Return what `target` asks for where these components are installed.

    Args:
        target: the target, with what it inherits.
        components: what is installed, with all that it requires.
    """
    return {
        name: each
        for name, each in target.prerequisites.items()
        if (not each.components or not {*each.components}.isdisjoint(components))
        and {*each.providedBy}.isdisjoint(components)
    }


def refusals(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return what an install must not go on without."""
    return [each for each in verdicts if each.ok is False and each.prerequisite.refuses]


def judge(test: PrerequisiteTest, seen: Evidence) -> tuple[bool, str]:
    """Return whether a test passes, and what is there in words.

    Args:
        test: the test.
        seen: what the cluster shows for it.
    """
    match test:
        case VersionTest():
            return _minor(seen.version) >= _minor(f"v{test.minimum}"), seen.version or "no version"
        case ApiTest():
            return _api(test, seen.kinds)
        case ObjectTest():
            return _object(test, seen.objects)
        case StorageClassTest():
            return _storage_class(test, seen.objects)
        case NodeTest():
            return _node(test, seen.objects)


def _minor(version: str) -> tuple[int, int]:
    found = re.match(r"v(\d+)\.(\d+)", version)  # v1.32.4-eks-1, v1.33.0-gke.200
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _api(test: ApiTest, kinds: Collection[str]) -> tuple[bool, str]:
    if test.kind:
        ok = test.kind in kinds
        return ok, f"{test.kind}.{test.group} is {'served' if ok else 'not served'}"
    return bool(kinds), f"{test.group} is {'served' if kinds else 'not served'}"


def _object(test: ObjectTest, objects: Sequence[Object]) -> tuple[bool, str]:
    where = f"{test.namespace}/{test.name}" if test.namespace else test.name
    if not objects:
        return test.type == "no-object", f"{test.kind} {where} is not there"
    if test.type == "ready":
        readiness = assess(objects[0])
        return readiness.current, f"{test.kind} {where}: {readiness.reason or 'ready'}"
    return test.type == "object", f"{test.kind} {where} is there"


def _storage_class(test: StorageClassTest, objects: Sequence[Object]) -> tuple[bool, str]:
    shown = sorted(_class_shown(each) for each in objects)
    there = f"StorageClasses: {', '.join(shown)}" if shown else "no StorageClass"
    if test.name:
        return any(text(each, "metadata", "name") == test.name for each in objects), there
    return any(_is_default(each) for each in objects), there


def _class_shown(each: Object) -> str:
    return text(each, "metadata", "name") + (" (default)" if _is_default(each) else "")


def _is_default(each: Object) -> bool:
    return annotations_of(each).get(DEFAULT_CLASS) == "true"


def _node(test: NodeTest, nodes: Sequence[Object]) -> tuple[bool, str]:
    if test.resource:
        count = sum(1 for each in nodes if (parse(dig(each, "status", "allocatable", test.resource)) or 0) > 0)
        return count > 0, f"{count} of {len(nodes)} nodes have {test.resource}"
    wanted = test.label + (f"={test.value}" if test.value else "")
    values = [labels_of(each)[test.label] for each in nodes if test.label in labels_of(each)]
    count = sum(1 for value in values if not test.value or value == test.value)
    return count > 0, f"{count} of {len(nodes)} nodes have label {wanted}"
