"""What must be on a cluster before a target is installed: fields of target.yaml. Pure."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from modelyard.catalog.fields import Model, Name


class VersionTest(Model):
    """The cluster's Kubernetes is at least of a version."""

    type: Literal["version"] = Field(description="the version of Kubernetes")
    minimum: str = Field(description="the oldest minor that will do: `1.32`", pattern=r"^1\.\d+$")


class ApiTest(Model):
    """The cluster serves an API group, or one kind of it."""

    type: Literal["api"] = Field(description="an API that is served")
    group: str = Field(description="the API group", min_length=1)
    kind: str = Field(default="", description="a kind of the group; absent: any")


class ObjectTest(Model):
    """An object is there, is not there, or is there and ready."""

    type: Literal["object", "no-object", "ready"] = Field(
        description="object: it is there; no-object: it is not; ready: it is there and ready, as `status` says it"
    )
    group: str = Field(default="", description="API group of its kind; empty: the core group")
    kind: str = Field(description="its kind", min_length=1)
    namespace: str = Field(default="", description="its namespace; empty: it has none")
    name: str = Field(description="its name", min_length=1)


class StorageClassTest(Model):
    """A StorageClass is there."""

    type: Literal["storage-class"] = Field(description="a StorageClass")
    name: str = Field(default="", description="its name; absent: the cluster has a default class")


class NodeTest(Model):
    """At least one node has a label, or a resource that pods can ask for."""

    type: Literal["node"] = Field(description="a node with a label, or with a resource")
    label: str = Field(default="", description="key of the label")
    value: str = Field(default="", description="the label's value; absent: any")
    resource: str = Field(default="", description="a resource of which the node has some to give (allocatable)")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if bool(self.label) == bool(self.resource) or (self.value and not self.label):
            raise ValueError("takes a label (and its value) or a resource")
        return self


PrerequisiteTest = Annotated[
    VersionTest | ApiTest | ObjectTest | StorageClassTest | NodeTest, Field(discriminator="type")
]


class Prerequisite(Model):
    """One thing that must be there before an install, and how to see whether it is."""

    what: str = Field(description="what must be there, and why, in a sentence", min_length=1)
    components: tuple[Name, ...] = Field(
        default=(), description="the components that need it; empty: every install does"
    )
    providedBy: tuple[Name, ...] = Field(  # noqa: N815
        default=(), description="components that bring it: with one of them in the same install, nothing is asked for"
    )
    test: PrerequisiteTest | None = Field(
        default=None, description="how `modelyard doctor` checks it; absent: people check it with `check`"
    )
    check: str = Field(default="", description="the command that shows it to people; absent: the one that `test` gives")
    fix: str = Field(description="what to do where it is missing: a command, or a sentence", min_length=1)
    refuses: bool = Field(
        default=False,
        description="`install` ends before the first write where `test` fails: the component would never get ready, or "
        "would harm the cluster",
    )
    source: str = Field(default="", description="the page or upstream file that asks for it")

    @model_validator(mode="after")
    def _can_be_checked(self) -> Self:
        if self.test is None and not self.check:
            raise ValueError("has neither test nor check")
        if self.test is None and self.refuses:
            raise ValueError("refuses without a test")
        return self

    @property
    def command(self) -> str:
        """Return the command that shows people whether it is there."""
        return self.check or (command_of(self.test) if self.test is not None else "")


def command_of(test: PrerequisiteTest) -> str:
    """Return the command by which people see what `test` looks at."""
    match test:
        case VersionTest():
            return "kubectl version"
        case ApiTest():
            return f"kubectl api-resources --api-group={test.group}"
        case ObjectTest():
            kind = f"{test.kind.lower()}.{test.group}" if test.group else test.kind.lower()
            return f"kubectl get {kind} {test.name}" + (f" -n {test.namespace}" if test.namespace else "")
        case StorageClassTest():
            return f"kubectl get storageclass {test.name}".strip()
        case NodeTest() if test.resource:
            escaped = test.resource.replace(".", "\\.")
            return f"kubectl get nodes -o custom-columns='NAME:.metadata.name,HAS:.status.allocatable.{escaped}'"
        case NodeTest():
            return f"kubectl get nodes -l {test.label}" + (f"={test.value}" if test.value else "")
