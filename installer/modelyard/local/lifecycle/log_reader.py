"""Which logs `modelyard local logs` shows."""

from __future__ import annotations

import difflib
from pathlib import Path

from modelyard.errors import LocalClusterError
from modelyard.local.host.files import read_json
from modelyard.local.state.layout import Layout, layout
from modelyard.local.state.spec import check_name


def choose_logs(name: str, component: str, *, previous: bool = False) -> list[tuple[str, Path]]:
    """Return title and path of each log to show.

    Args:
        name: the cluster's.
        component: a component's name, or "" for the supervisor and every component that restarted.
        previous: the log before the last rotation.

    Raises:
        LocalClusterError: there is no such cluster or no such log.
    """
    where = layout(check_name(name))
    known = sorted(path.name.removesuffix(".log") for path in where.logs.glob("*.log"))
    if not known:
        raise LocalClusterError(
            f"cluster {name}", "it has no logs: it was never up", f"modelyard local up --name {name}"
        )
    chosen = [component] if component else ["supervisor", *_restarted(where)]
    for each in chosen:
        if each not in known:
            near = difflib.get_close_matches(each, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise LocalClusterError(
                f"log of {each}", f"{hint}cluster {name} has: {', '.join(known)}", f"modelyard local logs --name {name}"
            )
    suffix = ".1" if previous else ""
    return [(each, Path(f"{where.log(each)}{suffix}")) for each in chosen]


def _restarted(where: Layout) -> list[str]:
    components = (read_json(where.health) or {}).get("components")
    if not isinstance(components, dict):
        return []
    return [name for name, entry in components.items() if entry["restarts"] or entry["state"] == "backoff"]
