"""Faults: found on their nodes, and survived by jobs."""
