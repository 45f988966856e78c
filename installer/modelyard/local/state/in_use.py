"""What of the cache a running cluster uses."""

from __future__ import annotations

from pathlib import Path

from modelyard.local.state.layout import layout, names
from modelyard.local.state.plan import from_json
from modelyard.local.state.record import running_supervisor


def files_in_use() -> set[Path]:
    """Return the binaries and images that running clusters were started with."""
    found: set[Path] = set()
    for name in names():
        where = layout(name)
        if running_supervisor(where) is None:
            continue
        plan = from_json(where.plan.read_text())
        found |= {Path(source) for node in plan.nodes for source in node.binds}
        found |= {Path(component.argv[0]) for component in plan.components if not component.node}
        found |= {Path(component.stdin) for component in plan.components if component.stdin}
    return {path.resolve() for path in found}
