"""Read text with Ray Data, keep the lines that hold a word of a list, and write them as Parquet.

INPUT is a folder with text.txt and words.txt; OUTPUT is a folder that all Ray pods share.
"""

from __future__ import annotations

import os
from pathlib import Path

import ray

INPUT, OUTPUT = Path(os.environ["INPUT"]), Path(os.environ["OUTPUT"])


def main() -> None:
    """Filter and count."""
    words = set((INPUT / "words.txt").read_text().split())

    def keep(row: dict[str, str]) -> bool:
        return not words.isdisjoint(row["text"].lower().split())

    def shape(row: dict[str, str]) -> dict[str, object]:
        found = sorted(words.intersection(row["text"].lower().split()))
        return {"text": row["text"], "words": " ".join(found), "length": len(row["text"])}

    ray.init()
    lines = ray.data.read_text(str(INPUT / "text.txt"))
    kept = lines.filter(keep).map(shape).materialize()
    kept.write_parquet(str(OUTPUT))
    print("RESULT", kept.count(), "lines kept")


if __name__ == "__main__":
    main()
