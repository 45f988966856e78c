"""Is a cluster of the kind that a target is for, and who else manages what it would install? Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from modelyard.catalog.models import Target
from modelyard.objects import Object, annotations_of, labels_of

# Labels and annotations by which managers mark what is theirs, and how they are called. The more telling comes first:
# OLM runs the operator that applies what Open Data Hub labels. Open Data Hub's mark was read in its operator
# (DefaultPartOfLabelKey); the others are those that each tool documents.
_MARKS = (
    ("platform.opendatahub.io/part-of", "Open Data Hub or OpenShift AI, component {}"),
    ("meta.helm.sh/release-name", "Helm, release {}"),
    ("argocd.argoproj.io/tracking-id", "Argo CD, {}"),
    ("argocd.argoproj.io/instance", "Argo CD, application {}"),
    ("kustomize.toolkit.fluxcd.io/name", "Flux, Kustomization {}"),
    ("helm.toolkit.fluxcd.io/name", "Flux, HelmRelease {}"),
)
_OLM_PACKAGE = "operators.coreos.com/"
_OLM_MANAGED = "olm.managed"


def wrong_platform(target: Target, groups: Collection[str]) -> str:
    """Return why a cluster is not of the target's kind; empty where nothing speaks against it.

    Args:
        target: the target.
        groups: the cluster's API groups.
    """
    missing = [group for group in target.requiresApiGroups if group not in groups]
    if missing:
        return f"has no API group {', '.join(missing)}, which every cluster of target {target.name} has"
    other = [group for group in target.refusesApiGroups if group in groups]
    if other:
        return f"has API group {', '.join(other)}, which no cluster of target {target.name} has"
    return ""


def manager_of(obj: Object) -> str:
    """Return who marks `obj` as theirs, for people; empty where nobody does."""
    marks = {**labels_of(obj), **annotations_of(obj)}
    for mark, called in _MARKS:
        if mark in marks:
            return called.format(marks[mark])
    packages = sorted(mark.removeprefix(_OLM_PACKAGE) for mark in marks if mark.startswith(_OLM_PACKAGE))
    if packages:
        return f"OLM, operator {packages[0]}"
    return "OLM" if marks.get(_OLM_MANAGED) == "true" else ""


def managers(live: Iterable[tuple[str, Object]]) -> dict[str, str]:
    """Return the managers of live objects, given and returned by name; those of nobody are left out."""
    return {name: manager for name, obj in live if (manager := manager_of(obj))}
