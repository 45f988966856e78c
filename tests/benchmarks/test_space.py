"""What the benchmarks say a run takes of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import space


def test_disk_is_what_the_files_of_a_folder_take(tmp_path: Path) -> None:
    before = space.disk_gib(tmp_path)
    (tmp_path / "file").write_bytes(b"x" * 8 * 2**20)
    assert space.disk_gib(tmp_path) - before == pytest.approx(8 / 1024, rel=0.1)


def test_memory_is_the_most_that_was_in_use_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([10.0, 7.0, 9.0])
    seen = space.threading.Event()

    def available() -> float:
        value = next(readings, None)
        if value is None:
            seen.set()
            return 9.0
        return value

    monkeypatch.setattr(space, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(space, "_available_gib", available)
    with space.watched_memory() as memory:
        assert seen.wait(10)
    assert memory.most == 3.0
