"""The embedded cluster: a real Kubernetes in namespaces of one machine, built here and run here.

The verbs a caller needs are here; each lives in a module of its own and is imported when first used, so
that the supervisor (`python -m modelyard.local.supervisor.main`) stays small. No room has the name of
a verb: a package, once imported, would hide it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modelyard.local.lifecycle.bring_down import down
    from modelyard.local.lifecycle.bring_up import up
    from modelyard.local.lifecycle.report import ClusterStatus, status
    from modelyard.local.node.enter import exec_in
    from modelyard.local.node.images import image_digests, load_image
    from modelyard.local.state.spec import ClusterInfo, ClusterSpec

_HOMES = {
    "ClusterInfo": "state.spec",
    "ClusterSpec": "state.spec",
    "ClusterStatus": "lifecycle.report",
    "down": "lifecycle.bring_down",
    "exec_in": "node.enter",
    "image_digests": "node.images",
    "load_image": "node.images",
    "status": "lifecycle.report",
    "up": "lifecycle.bring_up",
}
__all__ = [
    "ClusterInfo",
    "ClusterSpec",
    "ClusterStatus",
    "down",
    "exec_in",
    "image_digests",
    "load_image",
    "status",
    "up",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
