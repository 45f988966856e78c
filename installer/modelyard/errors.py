"""Every error that a user can meet, with its exit code.

One module, so that exit codes stay distinct and every message has the same three parts: the object,
the cause, the next command to type.

    ModelyardError                  1
    ├── CatalogError                3   component.yaml, target.yaml, upstream.lock, unknown names, cycles
    ├── SourceError                 4   an upstream tree cannot be had, or is not the one locked
    ├── RenderError                 5   kustomize refused
    ├── ClusterUnreachableError     6   no apiserver behind the kubeconfig, or it went away
    ├── ApplyError                  7   the apiserver refused an object
    ├── NotReadyError               8   a deadline passed, or an object failed for good
    ├── HostError                   9   the machine lacks something (`modelyard doctor` says what)
    ├── BuildError                  10  a binary or an image cannot be built
    ├── LocalClusterError           11  the embedded cluster cannot start, or is in the way
    ├── RefusalError                12  going on would destroy what was not asked for
    ├── ConformanceError            2   the suite could not run (its tests failed: 1)
    └── OptionError                 2   an option means nothing where it was given, as click's own usage errors
    (Ctrl-C: 130)
"""

from __future__ import annotations


class ModelyardError(Exception):
    """Base of all errors shown to a user without a stack trace.

    Args:
        subject: the object the error is about, as a user would name it ("component kueue").
        cause: what is wrong, in one sentence.
        remedy: the next command to type, or what to change; may be empty where nothing helps.
    """

    exit_code = 1

    def __init__(self, subject: str, cause: str, remedy: str = "") -> None:
        self.subject = subject
        self.cause = cause
        self.remedy = remedy
        super().__init__(f"{subject}: {cause}" + (f"\n  next: {remedy}" if remedy else ""))


class CatalogError(ModelyardError):
    """The catalogue (manifests/, overlays/, upstream.lock) or a name from it is wrong."""

    exit_code = 3


class SourceError(ModelyardError):
    """An upstream tree cannot be had, or its digest is not the locked one."""

    exit_code = 4


class RenderError(ModelyardError):
    """kustomize refused a component."""

    exit_code = 5


class ClusterUnreachableError(ModelyardError):
    """No apiserver answers behind the kubeconfig."""

    exit_code = 6


class RequestStoppedError(ClusterUnreachableError):
    """A request was given up because its run was stopped: what stopped the run says why."""


class ApplyError(ModelyardError):
    """The apiserver refused an object."""

    exit_code = 7


class NotReadyError(ModelyardError):
    """Something did not become ready before its deadline, or failed for good."""

    exit_code = 8


class HostError(ModelyardError):
    """The machine lacks something that the embedded cluster needs."""

    exit_code = 9


class BuildError(ModelyardError):
    """A binary or an image cannot be built."""

    exit_code = 10


class LocalClusterError(ModelyardError):
    """The embedded cluster cannot start, or another one is in the way."""

    exit_code = 11


class RefusalError(ModelyardError):
    """Going on would destroy what was not asked for."""

    exit_code = 12


class ConformanceError(ModelyardError):
    """The conformance suite could not run."""

    exit_code = 2


class OptionError(ModelyardError):
    """An option was given that means nothing together with what else is known."""

    exit_code = 2
