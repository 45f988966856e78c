"""The proof record: read back as written, refused where a hand has changed it, merged run by run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.proof.record import Entry, Passed, merged, read, write
from modelyard.errors import ConformanceError

PASSED = Passed("2026-01-02T03:04:05Z", "c0ffee", "1")
LATER = Passed("2026-01-03T03:04:05Z", "beef", "2")
ENTRY = Entry("o", "b", {"a": PASSED, "b": PASSED})
KNOWN = frozenset({"a", "b", "c"})


def test_what_is_written_is_read_back_and_written_the_same_again(tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    write(first, {"kueue": ENTRY, "jobset": Entry("x", "y", {})})
    write(second, read(first))
    assert read(first) == {"jobset": Entry("x", "y", {}), "kueue": ENTRY}
    assert first.read_bytes() == second.read_bytes()
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["first.json", "second.json"]


def test_without_a_file_nothing_is_recorded(tmp_path: Path) -> None:
    assert read(tmp_path / "none.json") == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [("c0ffee", "c0ffed"), ('"objects": "o"', '"objects": "x"'), ('"a": {', '"z": {'), ("01-02", "01-09")],
)
def test_an_entry_that_was_changed_by_hand_is_a_digest_mismatch(tmp_path: Path, old: str, new: str) -> None:
    file = tmp_path / "proof.json"
    write(file, {"kueue": ENTRY})
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(ConformanceError) as caught:
        read(file)
    assert "digest mismatch" in str(caught.value)
    assert "component kueue" in str(caught.value)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"version": "x", "components": {}}', '{"components": null}'])
def test_what_is_not_a_record_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "proof.json"
    file.write_text(content)
    with pytest.raises(ConformanceError, match="not a proof record"):
        read(file)


def test_a_digest_does_not_depend_on_the_order_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    write(file, {"kueue": Entry("o", "b", {"b": PASSED, "a": PASSED})})
    content = json.loads(file.read_text())
    assert content["components"]["kueue"]["digest"] == ENTRY.digest
    assert list(content["components"]["kueue"]["tests"]) == ["a", "b"]


def test_a_run_of_one_area_leaves_what_others_have_proved() -> None:
    after = merged(ENTRY, Entry("o", "b", {"c": LATER}), frozenset(), KNOWN)
    assert after.tests == {"a": PASSED, "b": PASSED, "c": LATER}


def test_what_was_proved_with_other_objects_is_forgotten() -> None:
    assert merged(ENTRY, Entry("other", "b", {"c": LATER}), frozenset(), KNOWN).tests == {"c": LATER}
    assert merged(ENTRY, Entry("o", "other", {"c": LATER}), frozenset(), KNOWN).tests == {"c": LATER}


def test_a_test_that_fails_or_is_gone_proves_nothing_any_more() -> None:
    assert merged(ENTRY, Entry("o", "b", {}), frozenset({"a"}), KNOWN).tests == {"b": PASSED}
    assert merged(ENTRY, Entry("o", "b", {}), frozenset(), frozenset({"b"})).tests == {"b": PASSED}
