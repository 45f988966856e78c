"""What the installer's tests against a real control plane share."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from modelyard.apply import Rendered
from modelyard.catalog import Component
from modelyard.cluster import Session
from modelyard.cluster.session import APPLY_PATCH
from modelyard.events import Event, StepProgress
from modelyard.objects import ref_of

IMAGE = "test.modelyard.dev/shell:1"
# What every component says of itself beside its name.
ABOUT = "area: cluster\nsummary: x\nlicence: MIT\n"
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
    about = {"area": "cluster", "summary": "x", "licence": "MIT"}
    entry = {"name": name, "requires": requires} | about | more
    component = Component.model_validate(entry)
    return Rendered(component, "v1.0.0", "test", objects, component.removal)


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


def apply_as(session: Session, manager: str, obj: Obj) -> None:
    """Apply `obj` server-side as somebody else does."""
    ref = ref_of(obj)
    resource = session.discovery.find(ref.group_kind)
    assert resource is not None
    path, query = resource.path(ref.namespace, ref.name), {"fieldManager": manager, "force": "true"}
    answer = session.transport.send("PATCH", path, query=query, body=obj, content_type=APPLY_PATCH)
    assert answer.code < 300, answer.body


def write_catalogue(root: Path, name: str, objects: Iterable[Obj], *, target: str = "") -> None:
    """Write a catalogue with target `test`, of one component of that name, into `root`."""
    files = {
        "upstream.lock": "upstreams: {}\n",
        f"manifests/cluster/{name}/component.yaml": f"name: {name}\n{ABOUT}",
        f"manifests/cluster/{name}/kustomization.yaml": "resources: [all.yaml]\n",
        f"manifests/cluster/{name}/all.yaml": "---\n".join(json.dumps(each) + "\n" for each in objects),
        f"overlays/test/{name}/kustomization.yaml": f"resources: [../../../manifests/cluster/{name}]\n",
        "overlays/test/target.yaml": f"name: test\nsummary: x\nprofiles: {{core: [{name}]}}\n{target}\n",
    }
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
