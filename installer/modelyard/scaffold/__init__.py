"""New components, targets and overlays: folders that pass every check at once, to go on from."""

from __future__ import annotations

from modelyard.scaffold.component import new_component
from modelyard.scaffold.draft import Draft
from modelyard.scaffold.target import new_overlay, new_target

__all__ = ["Draft", "new_component", "new_overlay", "new_target"]
