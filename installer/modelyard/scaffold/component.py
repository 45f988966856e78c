"""A new component: its manifests, and its place in the lists of each target."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from modelyard.catalog import Area, Catalog
from modelyard.catalog.names import unknown
from modelyard.scaffold.append import append
from modelyard.scaffold.draft import Draft, kustomization, refuse_existing
from modelyard.scaffold.names import check_name

PROFILE = "full"

_COMPONENT = """\
name: {name}
area: {area}
summary: What it is for, in one line
# Of the upstream, as SPDX calls it; this project's own is Apache-2.0.
licence: Apache-2.0
namespace: {name}
# Components that must be ready before it.
requires: []
# What its pods run. Each image stands in upstream.lock too; on `local`, where nothing is pulled, `build` says what it
# is built from.
images: []
# The CRDs that it brings, as <plural>.<group>.
crds: []
# Why Prometheus has no job of its name; take it out once there is one.
noMetrics: no pods yet
# What it serves of the Kubernetes AI conformance checklist; docs/reference/components.md lists the ids.
requirements: []
"""

_NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: {name}
  labels:
    modelyard.dev/platform: "true" # alerts and dashboards take its pods for the platform's
    pod-security.kubernetes.io/enforce: restricted
"""

_SETTINGS = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  namespace: {name}
data:
  greeting: Hi there
"""

_FROM_UPSTREAM = """\
A folder of an upstream repository, at the tag that upstream.lock has, goes into resources too:
- https://github.com/OWNER/REPOSITORY//config/default?ref=v1.2.3
or one file of it:
- https://raw.githubusercontent.com/OWNER/REPOSITORY/v1.2.3/deploy/all.yaml
A chart stands under helmCharts: docs/how-to/your-own-component.md"""


def new_component(catalog: Catalog, area: str, name: str, targets: Sequence[str] = ()) -> Draft:
    """Return a component that makes a namespace and a ConfigMap, for some targets.

    It is put into their profile `full`, and not into `core`.

    Args:
        catalog: the catalogue that it becomes part of.
        area: the area.
        name: its name.
        targets: the targets that get it, with those on them; empty: all. A folder for it in one of them is for what
            differs there.

    Raises:
        CatalogError: there is no such area or target, the name is none, or is taken.
        RefusalError: a target has a folder of that name.
    """
    if area not in list(Area):
        raise unknown("area", area, list(Area), where="manifests/")
    check_name("component", name, catalog.components)
    chosen = [catalog.target(target).name for target in targets or sorted(catalog.targets)]
    edits: dict[Path, str] = {}
    for target in sorted(catalog.targets):
        if not any(each.name in chosen for each in catalog.chain(target)):
            continue
        refuse_existing(catalog.root / "overlays" / target / name)
        edits |= _listed(catalog, target, area, name, chosen)
    return Draft({catalog.root / "manifests" / area / name: _manifests(area, name)}, edits)


def _manifests(area: str, name: str) -> dict[str, str]:
    return {
        "component.yaml": _COMPONENT.format(area=area, name=name),
        "kustomization.yaml": kustomization("namespace.yaml", "settings.yaml", comment=_FROM_UPSTREAM),
        "namespace.yaml": _NAMESPACE.format(name=name),
        "settings.yaml": _SETTINGS.format(name=name),
    }


def _listed(catalog: Catalog, target: str, area: str, name: str, chosen: Collection[str]) -> dict[Path, str]:
    """Return the target's lists of components with `name` in them."""
    file = catalog.root / "overlays" / target / "target.yaml"
    whole = file.with_name("kustomization.yaml")
    edits = {whole: _appended(catalog, whole, ("resources",), f"../../manifests/{area}/{name}")}
    found = catalog.target(target)
    profile = PROFILE if PROFILE in found.profiles else min(found.profiles)
    if re.search(r"^profiles:", file.read_text(encoding="utf-8"), re.MULTILINE):
        edits |= {file: _appended(catalog, file, ("profiles", profile), name)} if target in chosen else {}
    elif not any(each.name in chosen for each in list(catalog.chain(target))[1:]):  # else it has what its base has
        edits[file] = _added(catalog, file, profile, name)
    return edits


def _added(catalog: Catalog, file: Path, profile: str, name: str) -> str:
    """Return target.yaml of a target that has its base's profiles, with one component more than those."""
    text = file.read_text(encoding="utf-8")
    if re.search(r"^adds:", text, re.MULTILINE):
        return _appended(catalog, file, ("adds", profile), name)
    return f"{text.rstrip()}\nadds:\n  {profile}: [{name}]\n"


def _appended(catalog: Catalog, file: Path, where: tuple[str, ...], item: str) -> str:
    return append(file.read_text(encoding="utf-8"), where, item, shown=file.relative_to(catalog.root).as_posix())
