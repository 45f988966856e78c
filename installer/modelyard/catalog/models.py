"""The catalogue's files as frozen models; their JSON schema is the reference documentation.

Every field says what it means. Unknown fields are errors: a misspelt `requires` must not pass for none.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from modelyard.catalog.fields import Model, Name
from modelyard.catalog.prerequisites import Prerequisite
from modelyard.catalog.removal import RemovalRules
from modelyard.catalog.values import Sized, Value, ValueKey, ValueName

UNRESOLVED = "unresolved"
PLATFORM = "platform"  # what a difference is about that no manifest can do
# As SPDX writes them: an id, or ids joined by AND, OR, WITH.
Licence = Annotated[str, Field(pattern=r"^[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*$")]
RequirementId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Area(StrEnum):
    """The part of the platform that a component belongs to; a folder of manifests/."""

    CLUSTER = "cluster"
    SCHEDULER = "scheduler"
    AUTOSCALER = "autoscaler"
    NETWORK = "network"
    RAY = "ray"
    TRAINING = "training"
    SERVING = "serving"
    DATA = "data"
    OBSERVABILITY = "observability"
    HEALING = "healing"
    GITOPS = "gitops"


class When(StrEnum):
    """When an image is needed: to bring the component up, or only by jobs that use it."""

    CONTROLLER = "controller"
    WORKLOAD = "workload"


class GoBuild(Model):
    """An image made of static Go binaries, one of which it starts."""

    kind: Literal["go"] = Field(description="built from a Go main package")
    module: Name = Field(description="folder of installer/modelyard/local/modules with go.mod and go.sum")
    package: str = Field(description="import path of the main package", min_length=1)
    entrypoint: str = Field(description="path of the binary in the image", pattern=r"^/")
    ldflags: dict[str, str] = Field(default={}, description="linker variables (-X name=value)")
    user: str = Field(default="65532:65532", description="uid:gid of the image, numeric for runAsNonRoot")
    binaries: dict[str, str] = Field(
        default={}, description="further binaries: path in the image -> main package, of the same module and ldflags"
    )
    files: dict[str, str] = Field(
        default={}, description="upstream's own files: path in the image -> path in the main package's Go module"
    )
    shell: bool = Field(
        default=False, description="with Debian's static busybox as /bin/sh and its commands, for upstream's scripts"
    )


class PythonBuild(Model):
    """An image made of a Debian root file system and locked Python packages."""

    kind: Literal["python"] = Field(description="built from a recipe of Python packages")
    recipe: Name = Field(description="folder of installer/modelyard/local/recipes")


Build = Annotated[GoBuild | PythonBuild, Field(discriminator="kind")]


class Image(Model):
    """A container image that the component runs, and what the local target builds it from."""

    name: str = Field(description="full name, with the registry, without the tag", min_length=1)
    tag: str = Field(description="the release's tag", min_length=1)
    build: Build | None = Field(default=None, description="how `local` builds it; absent: it is only pulled")
    when: When = Field(default=When.CONTROLLER, description="controller: before the component is applied")


class HealthExpression(Model):
    """When an object of one kind counts as ready, in CEL: the same three expressions as Flux's."""

    apiVersion: str = Field(description="apiVersion of the objects", min_length=1)  # noqa: N815 - Flux's name
    kind: str = Field(description="kind of the objects", min_length=1)
    current: str = Field(description="CEL: true once the object is ready", min_length=1)
    inProgress: str | None = Field(default=None, description="CEL: true while it is on its way")  # noqa: N815
    failed: str | None = Field(default=None, description="CEL: true once it has failed for good")


class Readiness(Model):
    """Readiness beyond the kstatus rules."""

    healthCheckExprs: tuple[HealthExpression, ...] = Field(default=(), description="rules for kinds")  # noqa: N815


class Cost(Model):
    """What all pods of a component use at rest: measured on `local`, with nothing queued, trained or served."""

    cpu: int = Field(description="millicores", ge=0)
    memory: int = Field(description="MiB", ge=1)


class Component(Model):
    """manifests/<area>/<name>/component.yaml."""

    name: Name = Field(description="the component's name, as its folder")
    area: Area = Field(description="the part of the platform, as its folder's parent")
    summary: str = Field(description="what it is for, in one line", min_length=1)
    upstream: str | None = Field(default=None, description="its key in upstream.lock; absent: our own")
    licence: Licence = Field(description="SPDX licence expression of the upstream, as its LICENSE says at that version")
    namespace: Name | None = Field(default=None, description="where its controllers run")
    requires: tuple[Name, ...] = Field(default=(), description="components that must be ready before it")
    readiness: Readiness = Field(default=Readiness(), description="readiness beyond the kstatus rules")
    images: tuple[Image, ...] = Field(default=(), description="images it runs")
    crds: tuple[str, ...] = Field(default=(), description="CRDs it owns, as <plural>.<group>")
    requirements: tuple[RequirementId, ...] = Field(
        default=(), description="requirements of the Kubernetes AI conformance checklist that it serves, by id"
    )
    proofNote: str = Field(default="", description="what was proved or simulated, in one line")  # noqa: N815
    values: dict[ValueName, Value] = Field(
        default={}, description="what a site can set of it, on the targets whose values.yaml has it"
    )
    sized: Sized | None = Field(
        default=None, description="which of its values follow from what fixed nodes have left; one component at most"
    )
    noMetrics: str = Field(  # noqa: N815
        default="", description="why Prometheus has no job of its name; absent: it has one"
    )
    removal: RemovalRules = Field(
        default=RemovalRules(), description="what an uninstall must know of it beside its objects"
    )
    cost: Cost | None = Field(default=None, description="what it uses at rest on `local`; absent: not measured")


class Basis(StrEnum):
    """What a statement about a platform rests on; none of them was tried on such a platform here."""

    DOCUMENT = "document"
    UNVERIFIED = "unverified"


class Difference(Model):
    """One way in which a target differs from the plain manifests, and how that is known."""

    about: Name | tuple[Name, ...] = Field(
        description="the component that differs, or several; `platform` for what no manifest can do"
    )
    summary: str = Field(description="what is different, and why", min_length=1)
    source: str = Field(description="the page or upstream file that says so", min_length=1)
    basis: Basis = Field(
        default=Basis.DOCUMENT,
        description="document: read there or in a copy; unverified: from memory, to be checked on a real cluster",
    )
    inherited: bool = Field(
        default=False, description="holds for the targets on this one, too, where they have what it is about"
    )

    @property
    def subjects(self) -> tuple[str, ...]:
        """Return all that it is about."""
        return (self.about,) if isinstance(self.about, str) else self.about


class GpuNodes(StrEnum):
    """What nodes with GPUs come with on a target, so what the GPU operator has to bring. One choice for all of them.

    bare: nothing, the operator brings the driver, the container toolkit and the device plugin; driver: driver and
    toolkit are the image's, the device plugin is the operator's; complete: the platform brings the device plugin, too.
    """

    BARE = "bare"
    DRIVER = "driver"
    COMPLETE = "complete"


class Target(Model):
    """overlays/<target>/target.yaml."""

    name: Name = Field(description="the target's name, as its folder")
    summary: str = Field(description="what it is for, in one line", min_length=1)
    base: Name | None = Field(
        default=None,
        description="the target that it is a thin overlay on: it is installed as that one is, and what that "
        "one says of its clusters and leaves out holds here too",
    )
    profiles: dict[str, tuple[Name, ...]] = Field(
        default={},
        description="components by profile; absent: those of `base`, without what is left out or offered here",
    )
    adds: dict[str, tuple[Name, ...]] = Field(
        default={}, description="components by profile that come to those of `base`, where `profiles` is absent"
    )
    namespaces: tuple[Name, ...] = Field(default=(), description="namespaces that the target needs beside")
    values: dict[ValueKey, Value] = Field(
        default={},
        description="what a site can set on this target alone, as <component>.<name>; the values themselves, and "
        "those of what components declare, are in values.yaml beside it",
    )
    fixedNodes: bool = Field(  # noqa: N815
        default=False,
        description="all its nodes are there from the start, so `install` gives the component that is `sized` what "
        "they have left; else its values are the site's to set",
    )
    offered: dict[Name, str] = Field(
        default={},
        description="components of no profile that `--with` adds on this target, each with when to take it; so are "
        "those that `base` offers, unless the target has them or leaves them out",
    )
    leavesOut: dict[Name, str] = Field(  # noqa: N815
        default={}, description="components that the target does not have, each with the reason"
    )
    external: dict[str, tuple[str, ...]] = Field(
        default={},
        description="objects by kind that the platform has and our objects name, as <name> or <namespace>/<name>",
    )
    requiresApiGroups: tuple[str, ...] = Field(  # noqa: N815
        default=(), description="API groups that such a cluster has; without one of them it is refused"
    )
    refusesApiGroups: tuple[str, ...] = Field(  # noqa: N815
        default=(), description="API groups that tell another kind of cluster; with one of them it is refused"
    )
    storageClasses: dict[str, str] = Field(  # noqa: N815
        default={}, description="the platform's StorageClass to name, by access mode"
    )
    gpuNodes: GpuNodes | None = Field(  # noqa: N815
        default=None,
        description="what nodes with GPUs come with; absent: as on `base`. A site whose nodes come otherwise "
        "changes it in an overlay of its own",
    )
    prerequisites: dict[Name, Prerequisite] = Field(
        default={},
        description="what must be there before an install, by a name of its own; the target's own takes the place of "
        "one of `base` of the same name",
    )
    differences: tuple[Difference, ...] = Field(default=(), description="what differs, with its source")


class Tree(Model):
    """The part of an upstream's files that is used, and its digest."""

    dir: str = Field(description="folder of the upstream tree", min_length=1)
    sha256: Sha256 = Field(description="modelyard.sources.digest.tree_digest of that folder")


class Helm(Model):
    """An upstream whose release manifest is its own chart, rendered."""

    chart: str = Field(description="folder of the chart in the upstream tree", min_length=1)
    release: Name = Field(description="release name")
    namespace: Name = Field(description="release namespace")
    values: dict[str, object] = Field(default={}, description="chart values")
    manifests: tuple[str, ...] = Field(default=(), description="files put before its output")
    apiVersions: tuple[str, ...] = Field(  # noqa: N815
        default=(), description="what the chart may take for there, as <group>/<version>, beside Kubernetes' own"
    )


class Chart(Model):
    """An upstream that publishes a chart, and no manifest."""

    folder: str = Field(description="folder of the chart in the upstream tree", min_length=1)
    repo: str = Field(description="where it is published, as `helm pull` takes it", pattern=r"^(https|oci)://[^/]+")
    name: str = Field(description="its name there", min_length=1)


class Upstream(Model):
    """One pinned upstream."""

    git: str = Field(description="repository URL", pattern=r"^https://[^/]+/[^/]+/[^/]+$")
    ref: str = Field(description="tag", min_length=1)
    commit: str | None = Field(default=None, description="commit of the tag", pattern=r"^[0-9a-f]{40}$")
    module: str | None = Field(default=None, description="Go module in which the same tree is published")
    version: str | None = Field(default=None, description="version of that module")
    path: str = Field(default="", description="folder of the repository that the module is")
    tree: Tree | None = Field(default=None, description="what is used of it; absent: only its version is")
    helm: Helm | None = Field(default=None, description="set where the release manifest is a rendered chart")
    chart: Chart | None = Field(
        default=None, description="set where a kustomization names its published chart under `helmCharts`"
    )
    note: str = Field(default="", description="where ours differs from upstream")


class ImagePin(Model):
    """One pinned image."""

    tag: str = Field(description="tag", min_length=1)
    digest: str = Field(
        default=UNRESOLVED,
        description="sha256:..., or `unresolved` where no registry could be asked",
        pattern=r"^(unresolved|sha256:[0-9a-f]{64})$",
    )


class Lock(Model):
    """upstream.lock."""

    upstreams: dict[str, Upstream] = Field(default={}, description="upstreams by name")
    images: dict[str, ImagePin] = Field(default={}, description="images by full name")
