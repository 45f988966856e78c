"""Rights of the control plane's own clients: pure."""

from __future__ import annotations

_GROUP = "rbac.authorization.k8s.io"


def bind_user(name: str) -> dict[str, object]:
    """Return the ClusterRoleBinding that gives the ClusterRole `name` to the user of the same name."""
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": _GROUP, "kind": "User", "name": name}],
    }
