"""Who is at work on a cluster: a Lease beside the inventories, as client-go's leader election keeps one. Pure.

Whether a holder still lives is told by what others see change, never by the times that it writes: two machines' clocks
need not agree. The rules, and what each field means, are those of
https://pkg.go.dev/k8s.io/client-go/tools/leaderelection and https://kubernetes.io/docs/concepts/architecture/leases/.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from modelyard.objects import Object, ObjectRef, annotations_of, text
from modelyard.plan.inventory import NAMESPACE

REF = ObjectRef("coordination.k8s.io", "Lease", NAMESPACE, "at-work")
SECONDS = 15  # without a sign of life; then a holder counts as gone
RENEW_SECONDS = 4.0
COMMAND = "modelyard.dev/command"
PROCESS = "modelyard.dev/process"


@dataclass(frozen=True, slots=True)
class Holder:
    """One command at work.

    Args:
        who: user and host.
        pid: its process there.
        command: as it was typed.
        token: tells it from all others.
        process: the process as its own machine knows it (apply/processes.py); empty where it cannot be told.
    """

    who: str
    pid: int
    command: str
    token: str
    process: str

    @property
    def identity(self) -> str:
        """Return the Lease's holderIdentity."""
        return f"{self.who}/{self.pid}/{self.token}"


@dataclass(frozen=True, slots=True)
class Seen:
    """A holder's last sign of life, as the observer's own monotonic clock has it."""

    version: str = ""
    at: float = 0.0

    def updated(self, lease: Object, now: float) -> Seen:
        """Return this after a look at the Lease: its version changes with every renewal."""
        version = text(lease, "metadata", "resourceVersion")
        return self if version == self.version else replace(self, version=version, at=now)

    def silent(self, now: float) -> bool:
        """Tell whether the holder has not been heard of for so long that it counts as gone."""
        return now - self.at >= SECONDS


def lease_object(holder: Holder, now: datetime) -> dict[str, object]:
    """Return the Lease of a holder that begins now; the times are for people alone."""
    moment = _micro_time(now)
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": REF.kind,
        "metadata": {
            "name": REF.name,
            "namespace": REF.namespace,
            "annotations": {COMMAND: holder.command, PROCESS: holder.process},
        },
        "spec": {
            "holderIdentity": holder.identity,
            "leaseDurationSeconds": SECONDS,
            "acquireTime": moment,
            "renewTime": moment,
        },
    }


def renewal(version: str, now: datetime) -> dict[str, object]:
    """Return the change by which a holder says that it lives, of the Lease at `version` alone."""
    return {"metadata": {"resourceVersion": version}, "spec": {"renewTime": _micro_time(now)}}


def release(version: str) -> dict[str, object]:
    """Return the change by which a holder lets go, of the Lease at `version` alone."""
    notes = {COMMAND: None, PROCESS: None}
    spec = {"holderIdentity": None, "acquireTime": None, "renewTime": None}
    return {"metadata": {"resourceVersion": version, "annotations": notes}, "spec": spec}


def holder_of(lease: Object) -> str:
    """Return the holder's identity; empty where nobody holds it."""
    return text(lease, "spec", "holderIdentity")


def process_of(lease: Object) -> str:
    """Return the holder's process, as its machine knows it; empty where it is not told."""
    return annotations_of(lease).get(PROCESS, "")


def sentence(lease: Object) -> str:
    """Say who is at work, since when and by which command, for people."""
    who, _, rest = holder_of(lease).partition("/")
    pid = rest.partition("/")[0] or "unknown"
    since = text(lease, "spec", "acquireTime").partition(".")[0].replace("T", " ") or "an unknown time"
    command = annotations_of(lease).get(COMMAND) or "an unknown command"
    return f"{who} (pid {pid}) is at work on it since {since} UTC by its clock: {command}"


def _micro_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
