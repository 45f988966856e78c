"""component.yaml, target.yaml and upstream.lock as typed, frozen models, and the requires graph. Pure."""

from __future__ import annotations

from modelyard.catalog.load import Catalog, load, with_overlay
from modelyard.catalog.models import (
    Area,
    Basis,
    Component,
    Cost,
    Difference,
    GoBuild,
    GpuNodes,
    HealthExpression,
    Helm,
    Image,
    ImagePin,
    Lock,
    PythonBuild,
    Readiness,
    Target,
    Tree,
    Upstream,
    When,
)

__all__ = [
    "Area",
    "Basis",
    "Catalog",
    "Component",
    "Cost",
    "Difference",
    "GoBuild",
    "GpuNodes",
    "HealthExpression",
    "Helm",
    "Image",
    "ImagePin",
    "Lock",
    "PythonBuild",
    "Readiness",
    "Target",
    "Tree",
    "Upstream",
    "When",
    "load",
    "with_overlay",
]
