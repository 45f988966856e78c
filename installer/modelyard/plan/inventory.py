"""What is installed, kept in the cluster: one ApplySet a component, as kubectl implements it. Pure.

Specification: KEP-3659, https://git.k8s.io/enhancements/keps/sig-cli/3659-kubectl-apply-prune; names and
formats as in k8s.io/kubectl/pkg/cmd/apply/applyset.go. The parent is a ConfigMap; its data, which the
specification leaves to the tool, holds what `status` and `uninstall` need so that neither needs the
catalogue: the exact objects, what the component requires, and its readiness expressions.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from modelyard.catalog.removal import NO_RULES, RemovalRules
from modelyard.objects import GroupKind, Object, ObjectRef, annotations_of, labels_of, strings, text

NAMESPACE = "modelyard-system"
TOOL = "modelyard"
PREFIX = "modelyard-"

ID_LABEL = "applyset.kubernetes.io/id"
PART_OF_LABEL = "applyset.kubernetes.io/part-of"
TOOLING = "applyset.kubernetes.io/tooling"
GROUP_KINDS = "applyset.kubernetes.io/contains-group-kinds"
NAMESPACES = "applyset.kubernetes.io/additional-namespaces"

COMPONENT_LABEL = "modelyard.dev/component"
VERSION = "modelyard.dev/version"
TARGET = "modelyard.dev/target"
CLUSTER = "modelyard.dev/cluster-id"
COMPLETE = "modelyard.dev/complete"  # digest of the objects of the last install that ended well


@dataclass(frozen=True, slots=True)
class Inventory:
    """One component's inventory.

    Args:
        component: the component's name.
        version: its upstream's version; empty for our own.
        target: the target that it was installed for.
        cluster: uid of the cluster's kube-system namespace: an inventory that a backup brought from
            another cluster does not count.
        group_kinds: where its objects are; during an install a superset.
        namespaces: namespaces of its objects.
        objects: the exact objects that should be there.
        requires: components that it requires.
        rules: its healthCheckExprs.
        complete: digest of the objects that the last finished install put there; empty while one runs.
        adopted: objects that were somebody else's before, with whose they were.
        removal: what an uninstall must know beside the objects; None where it was written before there were such rules.
    """

    component: str
    version: str
    target: str
    cluster: str
    group_kinds: frozenset[GroupKind]
    namespaces: frozenset[str]
    objects: frozenset[ObjectRef] = frozenset()
    requires: tuple[str, ...] = ()
    rules: tuple[Mapping[str, object], ...] = field(default=())
    complete: str = ""
    adopted: Mapping[ObjectRef, str] = field(default_factory=dict)
    removal: RemovalRules | None = NO_RULES


def parent_name(component: str) -> str:
    """Return the name of a component's parent ConfigMap."""
    return PREFIX + component


def applyset_id(component: str) -> str:
    """Return the ApplySet id: base64 of the sha256 of <name>.<namespace>.<kind>.<group>."""
    parent = f"{parent_name(component)}.{NAMESPACE}.ConfigMap."
    digest = base64.urlsafe_b64encode(hashlib.sha256(parent.encode()).digest()).decode().rstrip("=")
    return f"applyset-{digest}-v1"


def parent_object(inventory: Inventory, *, tool_version: str) -> dict[str, object]:
    """Return the parent ConfigMap for `inventory`."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": parent_name(inventory.component),
            "namespace": NAMESPACE,
            "labels": {
                ID_LABEL: applyset_id(inventory.component),
                COMPONENT_LABEL: inventory.component,
            },
            "annotations": {
                TOOLING: f"{TOOL}/v{tool_version}",
                GROUP_KINDS: ",".join(sorted(str(kind) for kind in inventory.group_kinds)),
                NAMESPACES: ",".join(sorted(inventory.namespaces - {NAMESPACE, ""})),
                VERSION: inventory.version,
                TARGET: inventory.target,
                CLUSTER: inventory.cluster,
                COMPLETE: inventory.complete,
            },
        },
        "data": {
            "objects": "\n".join(_line(ref) for ref in sorted(inventory.objects)),
            "requires": json.dumps(sorted(inventory.requires)),
            "rules": json.dumps(list(inventory.rules)),
            **({"adopted": _adopted_lines(inventory.adopted)} if inventory.adopted else {}),
            **({"removal": inventory.removal.model_dump_json()} if inventory.removal is not None else {}),
        },
    }


def read_parent(parent: Object) -> Inventory:
    """Return the inventory that a parent ConfigMap holds."""
    notes, data = annotations_of(parent), strings(parent, "data")
    return Inventory(
        component=text(parent, "metadata", "name").removeprefix(PREFIX),
        version=notes.get(VERSION, ""),
        target=notes.get(TARGET, ""),
        cluster=notes.get(CLUSTER, ""),
        group_kinds=frozenset(_group_kind(part) for part in _parts(notes.get(GROUP_KINDS, ""))),
        namespaces=frozenset(_parts(notes.get(NAMESPACES, ""))),
        objects=frozenset(_ref(line) for line in data.get("objects", "").splitlines() if line),
        requires=tuple(json.loads(data.get("requires", "[]"))),
        rules=tuple(json.loads(data.get("rules", "[]"))),
        complete=notes.get(COMPLETE, ""),
        adopted={_ref(line): owner for line, _, owner in _adopted(data.get("adopted", ""))},
        removal=RemovalRules.model_validate_json(data["removal"]) if "removal" in data else None,
    )


def trouble(parent: Object, component: str, *, cluster: str) -> str:
    """Return why `parent` must not be trusted as this component's inventory here; empty if it may be.

    Args:
        parent: the ConfigMap as found.
        component: the component that it should be of.
        cluster: this cluster's id.
    """
    notes = annotations_of(parent)
    tool = notes.get(TOOLING, "").split("/", 1)[0]
    if tool != TOOL:
        return f"it is managed by {tool or 'nobody that says so'}, not by {TOOL}"
    if labels_of(parent).get(ID_LABEL) != applyset_id(component):
        return f"its label {ID_LABEL} is not that of this ApplySet"
    if notes.get(CLUSTER) != cluster:
        return f"it was written in another cluster ({notes.get(CLUSTER) or 'none named'}, this is {cluster})"
    if GROUP_KINDS not in notes:
        return f"its annotation {GROUP_KINDS} is lost"
    try:
        RemovalRules.model_validate_json(strings(parent, "data").get("removal", "{}"))
    except ValueError:
        return "its rules for an uninstall are not ones that this modelyard knows; a newer one may have written them"
    return ""


def union(kinds: Iterable[GroupKind], more: Iterable[GroupKind]) -> frozenset[GroupKind]:
    """Return both together: what an inventory lists while an install is under way."""
    return frozenset(kinds) | frozenset(more)


def _parts(joined: str) -> list[str]:
    return [part for part in joined.split(",") if part]


def _group_kind(shown: str) -> GroupKind:
    kind, _, group = shown.partition(".")
    return GroupKind(group, kind)


def _adopted_lines(adopted: Mapping[ObjectRef, str]) -> str:
    return "\n".join(f"{_line(ref)}\t{' '.join(owner.split())}" for ref, owner in sorted(adopted.items()))


def _adopted(lines: str) -> list[tuple[str, str, str]]:
    return [line.partition("\t") for line in lines.splitlines() if line]


def _line(ref: ObjectRef) -> str:
    return f"{ref.group}/{ref.kind}/{ref.namespace}/{ref.name}"


def _ref(line: str) -> ObjectRef:
    group, kind, namespace, name = line.split("/", 3)
    return ObjectRef(group, kind, namespace, name)
