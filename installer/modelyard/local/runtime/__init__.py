"""The embedded cluster: a real Kubernetes in namespaces of one machine.

The verbs a caller needs are here; each lives in a module of its own and is imported when first used, so
that the supervisor (`python -m modelyard.local.runtime.supervisor`) stays small. No module has the name of
a verb: a submodule, once imported, would hide it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modelyard.local.runtime.bring_down import down
    from modelyard.local.runtime.bring_up import up
    from modelyard.local.runtime.enter import exec_in
    from modelyard.local.runtime.images import image_digests, load_image
    from modelyard.local.runtime.report import ClusterStatus, status
    from modelyard.local.runtime.spec import ClusterInfo, ClusterSpec

_HOMES = {
    "ClusterInfo": "spec",
    "ClusterSpec": "spec",
    "ClusterStatus": "report",
    "down": "bring_down",
    "exec_in": "enter",
    "image_digests": "images",
    "load_image": "images",
    "status": "report",
    "up": "bring_up",
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
