"""Get an upstream's files and verify them against upstream.lock: Go modules, else git."""

from __future__ import annotations

from modelyard.sources.digest import tree_digest
from modelyard.sources.store import Store

__all__ = ["Store", "tree_digest"]
