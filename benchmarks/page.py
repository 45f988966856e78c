"""`python -m benchmarks.page`: put the measured figures of bench-results/ into docs/explanation/performance.md."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.report import RESULTS, amount

PAGE = RESULTS.parent / "docs/explanation/performance.md"
HEADINGS = ("figure", "ours", "goal", "peer", "peer's", "ours / peer", "")
LOSING = "**losing**"
MOST_PARTS = 16
Json = Mapping[str, Any]


def main() -> None:
    """Write the tables anew; a part that was not measured stays as it is."""
    text = PAGE.read_text(encoding="utf-8")
    for name in ("warm", "cold"):
        results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob(f"{name}*.json"))]
        if results:
            text = replaced(text, name, "\n\n".join(section(each) for each in latest(results)))
    PAGE.write_text(text, encoding="utf-8")


def latest(results: Sequence[Json]) -> list[Json]:
    """Return the results, the newest first, each without the cells that a newer one has. Pure."""
    seen: set[str] = set()
    found: list[Json] = []
    for result in sorted(results, key=lambda each: str(each["before"]["at"]), reverse=True):
        cells = [cell for cell in result["cells"] if cell["name"] not in seen]
        seen.update(cell["name"] for cell in cells)
        found += [{**result, "cells": cells}] if cells else []
    return found


def replaced(text: str, name: str, content: str) -> str:
    """Return `text` with what stands between the marks of `name` replaced by `content`. Pure."""
    begin, end = f"<!-- begin {name}: python -m benchmarks.page -->", f"<!-- end {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.S)
    found, count = pattern.subn(lambda _: f"{begin}\n{content}\n{end}", text)
    if count != 1:
        raise LookupError(f"{PAGE.name} has {count} places for {name}, not one")
    return found


def section(result: Json) -> str:
    """Return the machine and the table of one result. Pure."""
    before, after = result["before"], result["after"]
    machine = (
        f"{before['cpus']} cores ({before['cpu']}), {before['memory_gib']} GiB, kernel {before['kernel']}; "
        f"load average {before['load']} before and {after['load']} after; {before['at']}."
    )
    rows = [row for cell in result["cells"] for row in _rows(cell)]
    table = [_line(HEADINGS), _line(["---"] * len(HEADINGS)), *map(_line, rows)]
    return "\n".join([machine, "", *table, "", *map(_parts, filter(_has_parts, result["cells"]))])


def _has_parts(cell: Json) -> bool:
    return bool(cell["parts"])


def _parts(cell: Json) -> str:
    """Return what a figure is made of, the largest first; steps overlap, so they need not add up."""
    largest = sorted(cell["parts"].items(), key=lambda part: -part[1])[:MOST_PARTS]
    listed = ", ".join(f"{name} {value:.3g}" for name, value in largest)
    return f"- {cell['ours']['what']}, in {cell['unit']}: {listed}"


def _rows(cell: Json) -> list[Sequence[str]]:
    """Return a line for each peer; the losing ones are marked."""
    ours, unit = cell["ours"], cell["unit"]
    goal = "" if cell["goal"] is None else amount(cell["goal"], unit)
    runs = len(ours["values"])
    figure = f"{ours['what']}" + (f" (median of {runs})" if runs > 1 else "")
    missed = cell["goal"] is not None and ours["median"] > cell["goal"]
    first = (figure, amount(ours["median"], unit), goal)
    peers = cell["peers"] or [None]
    return [
        (*(first if number == 0 else ("", "", "")), *_peer(peer, unit), _mark(peer, missed=missed and number == 0))
        for number, peer in enumerate(peers)
    ]


def _peer(peer: Json | None, unit: str) -> tuple[str, str, str]:
    if peer is None:
        return "", "", ""
    return f"`{peer['what']}`", amount(peer["median"], unit), f"{peer['ratio']:.2f}"


def _mark(peer: Json | None, *, missed: bool) -> str:
    lost = [*(["goal"] if missed else []), *(["peer"] if peer is not None and peer["ratio"] > 1 else [])]
    return f"{LOSING}: {', '.join(lost)}" if lost else ""


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
