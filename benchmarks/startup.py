"""How long a command takes to say what it can do."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cell import Cell, Series
from benchmarks.commands import MODELYARD, repeat
from benchmarks.tools import tool

RUNS = 15
PEERS = ("kubectl", "kustomize", "helm")
GOAL_SECONDS = 0.3


def measure() -> Iterator[Cell]:
    """Yield `--help` beside that of the field's Go programs."""
    peers = tuple(
        Series(f"{name} --help", repeat([tool(name), "--help"], RUNS)) for name in ("kubectl", "kustomize", "helm")
    )
    ours = Series("modelyard --help", repeat([MODELYARD, "--help"], RUNS))
    yield Cell("startup/help", "s", ours, peers, GOAL_SECONDS)
