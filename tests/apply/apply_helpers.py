"""What the installer's tests against a real control plane share."""

from __future__ import annotations

import re
import threading
from typing import Any

from modelyard.apply import Rendered
from modelyard.catalog import Component
from modelyard.events import Event, StepProgress

IMAGE = "test.modelyard.dev/shell:1"
# What every component says of itself beside its name.
ABOUT = "area: cluster\nsummary: x\nlicence: MIT\nproof: real\n"
Obj = dict[str, Any]


class Events:
    """Collects events; calls `on_progress` with each detail."""

    def __init__(self) -> None:
        self.seen: list[Event] = []
        self.on_progress = lambda detail: None

    def __call__(self, event: Event) -> None:
        self.seen.append(event)
        if isinstance(event, StepProgress):
            self.on_progress(event.detail)

    def stop_at(self, pattern: str) -> threading.Event:
        """Return what is set once a step says `pattern`, whenever that is.

        A deadline is tested on a second run, which finds already there what the first one had to wait for.
        """
        said = threading.Event()
        self.on_progress = lambda detail: said.set() if re.search(pattern, detail) else None
        return said

    def of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.seen if isinstance(event, kind)]


def rendered(name: str, *objects: Obj, requires: tuple[str, ...] = (), **more: Any) -> Rendered:
    about = {"area": "cluster", "summary": "x", "licence": "MIT", "proof": "real"}
    entry = {"name": name, "requires": requires} | about | more
    return Rendered(Component.model_validate(entry), "v1.0.0", "test", objects)


def namespace(name: str) -> Obj:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def config_map(ns: str, name: str, **data: str) -> Obj:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": ns}, "data": data}


def deployment(ns: str, name: str, script: str = "sleep infinity", *, image: str = IMAGE, probe: str = "true") -> Obj:
    """Return a Deployment that runs `script`, and is ready once the command `probe` succeeds."""
    labels = {"app": name}
    container: Obj = {"name": "manager", "image": image, "command": ["/usr/bin/bash", "-c", script]}
    container["readinessProbe"] = {"exec": {"command": ["/usr/bin/bash", "-c", probe]}, "periodSeconds": 1}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": ns},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"terminationGracePeriodSeconds": 0, "containers": [container]},
            },
        },
    }


def definition(group: str, kind: str = "Thing") -> Obj:
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    }


def thing(group: str, ns: str, name: str, **spec: Any) -> Obj:
    metadata = {"name": name, "namespace": ns}
    return {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": metadata, "spec": spec}
