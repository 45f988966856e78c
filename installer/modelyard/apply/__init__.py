"""Apply, wait, prune, uninstall: one verb a file. They emit events and print nothing."""

from __future__ import annotations

from modelyard.apply.aim import refuse_other_target, remembered_target
from modelyard.apply.chosen import keep_choice, read_choice, unchosen
from modelyard.apply.cluster_kind import refuse_other_platforms
from modelyard.apply.comparison import Comparison, compare_all
from modelyard.apply.component import Outcome
from modelyard.apply.install import Installing, Report, install
from modelyard.apply.prerequisites import check_prerequisites, refuse_missing_prerequisites
from modelyard.apply.preview import Preview, preview
from modelyard.apply.removal import Removal, plan_removal
from modelyard.apply.run import Rendered, StoppedError, rendered
from modelyard.apply.status import ComponentStatus, status
from modelyard.apply.turn import at_work, this_command
from modelyard.apply.uninstall import uninstall

__all__ = [
    "Comparison",
    "ComponentStatus",
    "Installing",
    "Outcome",
    "Preview",
    "Removal",
    "Rendered",
    "Report",
    "StoppedError",
    "at_work",
    "check_prerequisites",
    "compare_all",
    "install",
    "keep_choice",
    "plan_removal",
    "preview",
    "read_choice",
    "refuse_missing_prerequisites",
    "refuse_other_platforms",
    "refuse_other_target",
    "remembered_target",
    "rendered",
    "status",
    "this_command",
    "unchosen",
    "uninstall",
]
