"""The only importer of the `kubernetes` client: sessions, watches, errors wrapped once."""

from __future__ import annotations

from modelyard.cluster.connect import connect
from modelyard.cluster.failures import ApiError
from modelyard.cluster.session import Listing, Session
from modelyard.cluster.trouble import last_said, workload_trouble
from modelyard.cluster.watching import Seen, Watcher

__all__ = ["ApiError", "Listing", "Seen", "Session", "Watcher", "connect", "last_said", "workload_trouble"]
