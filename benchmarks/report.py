"""The cells for people, and for programs."""

from __future__ import annotations

import datetime
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.cell import Cell, Series, to_json

RESULTS = Path(__file__).resolve().parent.parent / "bench-results"
SCHEMA = "modelyard.dev/benchmark/v1"


def machine() -> dict[str, object]:
    """Return what a figure must be read with: the machine, and how busy it was."""
    model = [line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = [int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")]
    return {
        "cpus": os.cpu_count(),
        "cpu": model[0] if model else "",
        "memory_gib": round(memory[0] / 2**20, 1) if memory else 0,
        "kernel": os.uname().release,
        "load": round(os.getloadavg()[0], 2),
        "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def save(name: str, before: dict[str, object], cells: Sequence[Cell]) -> Path:
    """Write bench-results/<name>.json; return its path."""
    document = {"schema": SCHEMA, "before": before, "after": machine(), "cells": [to_json(cell) for cell in cells]}
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return path


def show(cells: Sequence[Cell]) -> None:
    """Print the table."""
    table = Table("cell", "ours (median)", "goal", "peer", "peer (median)", "ours / peer", "losing to")
    for cell in cells:
        for row in rows(cell):
            table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def rows(cell: Cell) -> list[tuple[str, ...]]:
    """Return the table's lines about one cell: one a peer, at least one."""
    goal = "" if cell.goal is None else amount(cell.goal, cell.unit)
    first = (cell.name, amount(cell.ours.median, cell.unit), goal)
    peers = [_peer(cell, peer) for peer in cell.peers] or [("", "", "", "")]
    if cell.misses_goal:
        peers[0] = (*peers[0][:3], "goal, peer" if peers[0][3] else "goal")
    return [(first if number == 0 else ("", "", "")) + peer for number, peer in enumerate(peers)]


def _peer(cell: Cell, peer: Series) -> tuple[str, str, str, str]:
    ratio = cell.ratio(peer)
    return peer.what, amount(peer.median, cell.unit), f"{ratio:.2f}", "peer" if ratio > 1 else ""


def amount(value: float, unit: str) -> str:
    """Return a figure with its unit, to three digits."""
    return f"{value:.3g} {unit}" if value < 100 else f"{value:.0f} {unit}"


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()
