"""One figure of ours beside one of a named peer. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median


@dataclass(frozen=True, slots=True)
class Series:
    """The same thing measured several times.

    Args:
        what: the command, or what was measured, as a reader could type or see it.
        values: one for each run, in the cell's unit.
    """

    what: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """Return the middle value."""
        return median(self.values)


@dataclass(frozen=True, slots=True)
class Cell:
    """One line of the table; less is better in all of them.

    Args:
        name: unique in a run ("startup/help").
        unit: of all its values: "s", "MiB", "% of a core", "x".
        ours: modelyard's figures.
        peers: the figures of others, taken in the same run.
        goal: what ours should stay within; None where only the peers count.
        parts: what ours is made of, by name, in the same unit.
    """

    name: str
    unit: str
    ours: Series
    peers: tuple[Series, ...] = ()
    goal: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)

    def ratio(self, peer: Series) -> float:
        """Return ours divided by the peer's: below 1, ours is better."""
        return self.ours.median / peer.median

    @property
    def misses_goal(self) -> bool:
        """Tell whether ours is more than its goal."""
        return self.goal is not None and self.ours.median > self.goal

    @property
    def losing(self) -> bool:
        """Tell whether ours misses its goal or is more than a peer's."""
        return self.misses_goal or any(self.ratio(peer) > 1 for peer in self.peers)


def to_json(cell: Cell) -> dict[str, object]:
    """Return the cell as plain data."""
    return {
        "name": cell.name,
        "unit": cell.unit,
        "ours": _series(cell.ours),
        "peers": [{**_series(peer), "ratio": round(cell.ratio(peer), 3)} for peer in cell.peers],
        "goal": cell.goal,
        "parts": {name: round(value, 3) for name, value in cell.parts.items()},
        "losing": cell.losing,
    }


def _series(series: Series) -> dict[str, object]:
    return {"what": series.what, "median": round(series.median, 4), "values": _rounded(series.values)}


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]
