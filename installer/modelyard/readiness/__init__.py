"""Is an object as asked for, and working? The kstatus rules by kind, and Flux's CEL expressions. Pure."""

from __future__ import annotations

from modelyard.readiness.assess import assess, missing
from modelyard.readiness.expressions import Expressions, Rules, rules_from
from modelyard.readiness.status import CURRENT, Readiness, Status
from modelyard.readiness.workloads import pods_exist

__all__ = [
    "CURRENT",
    "Expressions",
    "Readiness",
    "Rules",
    "Status",
    "assess",
    "missing",
    "pods_exist",
    "rules_from",
]
