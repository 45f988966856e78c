"""docs/how-to/before-you-install/<target>.md, from target.yaml."""

from __future__ import annotations

from pathlib import Path

from docs.generators.markdown import code, page, table
from docs.generators.values import values_table
from modelyard.catalog import Catalog, GpuNodes, Target, load
from modelyard.catalog.prerequisites import Prerequisite

FOLDER = "how-to/before-you-install"
_MACHINE = "local"

_GPU_NODES = {
    GpuNodes.BARE: "come bare: the GPU operator brings the driver, the container toolkit and the device plugin",
    GpuNodes.DRIVER: "come with the driver and the container toolkit: the GPU operator brings the device plugin",
    GpuNodes.COMPLETE: "come with the driver, the container toolkit and the device plugin, which are the platform's",
}


def names(root: Path) -> tuple[str, ...]:
    """Return the targets that have a page: all that are installed on a cluster which is there."""
    return tuple(
        sorted(path.parent.name for path in root.glob("overlays/*/target.yaml") if path.parent.name != _MACHINE)
    )


def render(root: Path, name: str) -> str:
    """Return the page about one target."""
    catalog = load(root)
    target = catalog.inherited(name)
    tested = {key: each for key, each in target.prerequisites.items() if each.test is not None}
    untested = {key: each for key, each in target.prerequisites.items() if each.test is None}
    return page(
        f"Before you install on {name}",
        f"{target.summary}. [What differs there](../../reference/targets.md#{name}).",
        _command(catalog, name, tested),
        _rows(tested),
        "What only you can see:" if untested else "",
        _rows(untested),
        _gpus(target),
        "## What you set" if target.values else "",
        "In a [file of values](../values.md), or accept what is there:" if target.values else "",
        values_table(target.values, catalog.defaults[name]),
    )


def _command(catalog: Catalog, name: str, tested: dict[str, Prerequisite]) -> str:
    profiles = " ".join(f"--profile {each}" for each in catalog.target(name).profiles if each == "full")
    return (
        f"`modelyard doctor --target {name} {profiles} --context YOURS` looks for all of this on your cluster and "
        "changes nothing. An install refuses to begin without what is marked **must**."
        if tested
        else "Nothing of it can be seen on the cluster by `modelyard doctor`."
    )


def _rows(prerequisites: dict[str, Prerequisite]) -> str:
    rows = [
        (
            each.what + _source(each),
            ", ".join(each.components) or "all",
            code(each.command),
            each.fix,
            "**must**" if each.refuses else "",
        )
        for each in prerequisites.values()
    ]
    return table(("what must be there", "for", "see it", "where it is missing", ""), rows)


def _source(each: Prerequisite) -> str:
    if each.source.startswith("https://") and " " not in each.source:
        return f" ([source]({each.source}))"
    return f" (source: {each.source})" if each.source else ""


def _gpus(target: Target) -> str:
    if target.gpuNodes is None:
        return ""
    return (
        f"## Nodes with GPUs\n\n`gpuNodes: {target.gpuNodes}`: nodes with GPUs {_GPU_NODES[target.gpuNodes]}. "
        "It holds for all of the cluster's nodes with GPUs. Where yours come otherwise, take another choice in "
        "an overlay of your own: [your own overlay](../your-own-overlay.md)."
    )
