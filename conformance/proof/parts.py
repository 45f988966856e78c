"""What a component is on `local`, as digests: its objects, and what its images are built from.

Neither has anything of the machine: objects are rendered with the values that the overlay has, not with those that
`install` sizes by the nodes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from modelyard.catalog import Catalog, Component, GoBuild, PythonBuild
from modelyard.local.build.binaries import module_fingerprint
from modelyard.local.build.python_recipe import ROOTFS_FILE, folder_digest
from modelyard.plan.desired import digest
from modelyard.render.render import Renderer

TARGET = "local"  # the target that runs here
PROFILE = "full"


@dataclass(frozen=True, slots=True)
class Parts:
    """A component's digests.

    Args:
        objects: of its objects as rendered for `local`.
        builds: of what its images are built from: Go modules' pins, recipes, paths, users.
    """

    objects: str
    builds: str


def components(catalog: Catalog) -> tuple[str, ...]:
    """Return the components that must be proved: all of the profile `full` on `local`."""
    return catalog.profile(TARGET, PROFILE)


def parts_of(catalog: Catalog, renderer: Renderer, names: Sequence[str]) -> Mapping[str, Parts]:
    """Return the digests of each of `names`.

    Raises:
        ModelyardError: one cannot be rendered, or names what cannot be built.
    """
    rendered = renderer.objects(catalog, TARGET, names)
    return {name: Parts(digest(rendered[name]), _builds(catalog.component(name))) for name in names}


def _builds(component: Component) -> str:
    lines = []
    for image in component.images:
        lines.append(json.dumps(image.model_dump(mode="json"), sort_keys=True))
        if isinstance(image.build, PythonBuild):
            lines += [folder_digest(image.build.recipe), hashlib.sha256(ROOTFS_FILE.read_bytes()).hexdigest()]
        elif isinstance(image.build, GoBuild):
            packages = sorted({image.build.package, *image.build.binaries.values()})
            lines += [module_fingerprint(image.build.module, package) for package in packages]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
