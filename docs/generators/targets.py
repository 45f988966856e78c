"""docs/reference/targets.md, from the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from docs.generators import proof
from docs.generators.markdown import code, page, table
from docs.generators.values import values_table
from modelyard.catalog import Basis, Catalog, Target, load

_BASIS = {Basis.DOCUMENT: "read", Basis.UNVERIFIED: "**not verified**"}


def render(root: Path) -> str:
    """Return the page about every target below `root`."""
    catalog, proofs = load(root), proof.read(root)
    targets = [catalog.inherited(name) for name in catalog.targets]
    return page(
        "Targets",
        "What a target has, and in what it differs from the plain manifests. "
        "[How to add one](../how-to/add-a-target.md), [all components](components.md), "
        "[fields of target.yaml](target.md).",
        "Only `local` is tried with real pods here. What is said of the other platforms was *read* in the source "
        "beside it (some in a copy, an excerpt or another project's page that quotes it), or is *not verified*: "
        "written from experience, to be checked on a real cluster. That the objects are well formed and fit together "
        "is tested for all of them (tests/manifests).",
        table(
            ("target", "what it is for", "components proved", "left out"),
            [_row(catalog, proofs, each) for each in targets],
        ),
        "Component by component: [where proved](components.md#where-proved).",
        *(_section(target, catalog.defaults[target.name]) for target in targets),
    )


def _row(catalog: Catalog, proofs: proof.Proofs, target: Target) -> tuple[str, ...]:
    return (
        f"[{target.name}](#{target.name})",
        target.summary,
        proofs.summary(catalog, target.name),
        ", ".join(target.leavesOut),
    )


def _section(target: Target, defaults: Mapping[str, str]) -> str:
    parts = [f"## {target.name}", f"{target.summary}: [overlays/{target.name}](../../overlays/{target.name})."]
    if target.name != "local":
        parts.append(f"[Before you install](../how-to/before-you-install/{target.name}.md).")
    if target.base is not None:
        parts.append(f"On [{target.base}](#{target.base}).")
    parts.append(_profiles(target))
    if target.offered:
        parts.append("\n".join(f"- `--with {name}`: {when.strip()}" for name, when in target.offered.items()))
    if target.leavesOut:
        parts.append(
            "\n".join(f"- without {code(name)}: {reason.strip()}" for name, reason in target.leavesOut.items())
        )
    if target.requiresApiGroups:
        parts.append("Refuses a cluster without " + _codes(target.requiresApiGroups) + ".")
    if target.refusesApiGroups:
        parts.append("Refuses a cluster with " + _codes(target.refusesApiGroups) + ".")
    parts.append(values_table(target.values, defaults))
    classes = [(mode, code(name)) for mode, name in target.storageClasses.items()]
    parts.append(table(("access mode", "storage class to name"), classes))
    rows = [(", ".join(each.subjects), each.summary, each.source, _BASIS[each.basis]) for each in target.differences]
    parts.append(table(("about", "what differs", "source", "basis"), rows))
    return "\n\n".join(part for part in parts if part)


def _profiles(target: Target) -> str:
    by_names: dict[tuple[str, ...], list[str]] = {}
    for profile, names in target.profiles.items():
        by_names.setdefault(names, []).append(profile)
    return "\n".join(f"- {', '.join(map(code, each))}: {', '.join(names)}" for names, each in by_names.items())


def _codes(names: tuple[str, ...]) -> str:
    return ", ".join(map(code, names))
