"""How much is to be built before any of it begins, and how long that takes."""

from __future__ import annotations

from pathlib import Path

from modelyard.events import Emit, Note
from modelyard.local.build.estimates import estimate
from modelyard.local.build.queue import BuildQueue


def announce(queue: BuildQueue, cache: Path, emit: Emit) -> None:
    """Tell it, where anything is to be built."""
    missing = queue.missing
    if missing:
        compiled = sum(each.kind == "binary" for each in missing)
        emit(
            Note(
                f"{compiled} programs to compile and {len(missing) - compiled} Python images to make, of "
                f"{len(queue.asked)} in all: {estimate(queue.asked, missing)}; what is built is kept in {cache}, "
                "so this may be stopped at any time and goes on where it was"
            )
        )
