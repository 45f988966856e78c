"""docs/reference/components.md, from the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from docs.generators import proof
from docs.generators.markdown import code, page, table
from docs.generators.proof import Proofs
from docs.generators.requirements import REQUIREMENTS, SOURCE, VERSION, Requirement
from modelyard.catalog import Catalog, Component, load


def render(root: Path) -> str:
    """Return the page about every component below `root`, in the order of the requires graph."""
    catalog = load(root)
    components = [catalog.component(name) for name in catalog.select(sorted(catalog.components))]
    return page(
        "Components",
        "In the order in which they are installed: each comes after what it requires, and those that do not depend "
        "on each other go in parallel. [Why these](../explanation/upstreams.md); which target has which: "
        "[targets](targets.md).",
        table(
            ("component", "version", "licence", "what it is for", "requires", "namespace"),
            [_row(catalog, each) for each in components],
        ),
        *_costs(components),
        *_proofs(catalog, proof.read(root), components),
        *_requirements(components),
    )


def _row(catalog: Catalog, component: Component) -> tuple[str, ...]:
    folder = f"manifests/{component.area}/{component.name}"
    return (
        f"[{component.name}](../../{folder})",
        catalog.version(component.name),
        component.licence,
        component.summary,
        ", ".join(component.requires),
        code(component.namespace or ""),
    )


def _costs(components: Sequence[Component]) -> tuple[str, ...]:
    measured = [(each.name, each.cost) for each in components if each.cost is not None]
    rows = [(name, f"{cost.cpu} m", f"{cost.memory} MiB") for name, cost in measured]
    cpu, memory = sum(cost.cpu for _, cost in measured), sum(cost.memory for _, cost in measured)
    missing = [each.name for each in components if each.cost is None and _runs(each)]
    return (
        "## Cost at rest",
        "What all pods of a component use on `local` while nothing is queued, trained or served: measured there, not "
        "what they request. One that is not here has no pods there, or is named below.",
        table(("component", "CPU", "memory"), [*rows, ("**all**", f"{cpu} m", f"{memory} MiB")] if rows else []),
        f"Not measured yet: {', '.join(missing) or 'none'}.",
    )


def _runs(component: Component) -> bool:
    """Return whether pods of it run before any job does: it has an image that is built for its controller."""
    return any(each.when == "controller" and each.build is not None for each in component.images)


def _proofs(catalog: Catalog, proofs: Proofs, components: Sequence[Component]) -> tuple[str, ...]:
    targets = sorted(catalog.targets)
    rows = [(each.name, *(proofs.word(catalog, target, each.name) or "" for target in targets)) for each in components]
    return (
        "## Where proved",
        "*proved*: [conformance](../../conformance/README.md) has run it on `local`, with real pods, and "
        "[proof.json](../../conformance/proof.json) has the record. *proved, simulated*: it ran there, and what it "
        "acts on (nodes, devices) is simulated. *not proved*: no test of it is recorded. *rendered and dry-run*: a "
        "real apiserver took every object of it, and no pod ran. An empty field: the target does not have it.",
        table(("component", *targets), rows),
        "\n".join(f"- {each.name}: {each.proofNote}" for each in components if each.proofNote),
        "## What has proved it",
        "The tests that have passed, each with the day. What is recorded holds until the component's objects, what its "
        "images are built from, or the test change: [how](../adr/0008-recorded-proof.md).",
        table(("component", "test", "day"), [row for each in components for row in _days(proofs, each.name)]),
    )


def _days(proofs: Proofs, name: str) -> list[tuple[str, ...]]:
    return [(name, code(claim.test), day) for claim, day in sorted(proofs.days(name).items())]


def _requirements(components: Sequence[Component]) -> tuple[str, ...]:
    return (
        "## Requirements",
        f"Which components serve which requirement of the [Kubernetes AI conformance checklist]({SOURCE}) of "
        f"Kubernetes {VERSION}. That a component serves one does not say that a cluster fulfils it: that is for the "
        "cluster's own evidence. The titles are in our words.",
        table(
            ("requirement", "level", "what it asks for", "served by"),
            [_requirement(each, components) for each in REQUIREMENTS],
        ),
    )


def _requirement(requirement: Requirement, components: Sequence[Component]) -> tuple[str, ...]:
    serving = [each.name for each in components if requirement.id in each.requirements]
    return code(requirement.id), requirement.level, requirement.title, ", ".join(serving) or "nothing yet"
