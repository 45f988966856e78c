"""Pruning: by age, by size, never what a running cluster uses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from modelyard.local.build.prune import Limits, holding, prune, prune_go_caches, select
from modelyard.local.build.store import Entry, Store

entries = st.lists(
    st.builds(
        lambda key, size, used: Entry("binary", str(key), Path(f"/store/binary/{key}"), size, used),
        st.integers(0, 99),
        st.integers(0, 1000),
        st.floats(0, 1000),
    ),
    unique_by=lambda entry: entry.key,
)


@given(entries, st.integers(0, 5000))
def test_what_stays_fits_the_size_and_is_the_most_recently_used(stored: list[Entry], limit: int) -> None:
    gone = select(stored, Limits(max_size=limit), now=1000)
    stays = [entry for entry in stored if entry not in gone]
    assert sum(entry.size for entry in stays) <= limit
    assert all(old.used_at <= kept.used_at for old in gone for kept in stays)
    if gone:  # no more went than had to
        assert sum(entry.size for entry in [*stays, gone[-1]]) > limit


@given(entries, st.floats(0, 1000))
def test_age_decides_alone_where_no_size_is_given(stored: list[Entry], age: float) -> None:
    gone = select(stored, Limits(max_age=age), now=1000)
    assert {entry.key for entry in gone} == {entry.key for entry in stored if 1000 - entry.used_at > age}


@given(entries)
def test_protected_entries_stay_whatever_the_limits(stored: list[Entry]) -> None:
    protected = {entry.path for entry in stored[::2]}
    gone = select(stored, Limits(max_age=0, max_size=0), now=2000, protected=protected)
    assert not protected & {entry.path for entry in gone}


def test_what_is_used_is_protected_behind_a_link_to_the_cache_too(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "cache").symlink_to(tmp_path / "disk")
    store = Store(tmp_path / "cache" / "store")
    for key in ("idle", "used"):
        store.get("binary", key, lambda target: target.write_text("x") and None)
    used = {(tmp_path / "disk" / "store" / "binary" / "used" / "content").resolve()}
    prune(store, Limits(max_size=0), now=0, protected=holding(store.entries(), used))
    assert [entry.key for entry in store.entries()] == ["used"]


def test_prune_deletes_and_counts(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.get("binary", "a", lambda target: target.write_text("12345") and None)
    done = prune(store, Limits(max_size=0), now=0)
    assert (len(done.entries), done.freed) == (1, 5)
    assert store.entries() == []


def test_what_another_command_was_handed_stays_until_that_ends(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from modelyard.local.build.store import Store
from modelyard.local.build.holds import hold
Store(Path(sys.argv[1])).get("binary", sys.argv[2], lambda target: target.write_text("x") and None)
hold(Path(sys.argv[1], "go"))
print("handed", flush=True)
sys.stdin.read()
"""
    store = Store(tmp_path)
    (tmp_path / "go").mkdir()
    for key in ("old", "idle"):
        store.get("binary", key, lambda target: target.write_text("x") and None)
    for key in ("old", "new"):  # found in the store, and built into it
        command = [sys.executable, "-P", "-c", program, tmp_path, key]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == b"handed\n"
            done = prune(store, Limits(max_size=0), now=0)
            assert [entry.key for entry in done.in_use] == [key]
            assert [entry.key for entry in store.entries()] == [key]
            assert prune_go_caches(tmp_path) is None
            other.kill()
    assert [entry.key for entry in prune(store, Limits(max_size=0), now=0).entries] == ["new"]
    assert prune_go_caches(tmp_path) == 0


def test_go_caches_go_although_they_are_read_only(tmp_path: Path) -> None:
    module = tmp_path / "go" / "mod" / "example.com"
    module.mkdir(parents=True)
    (module / "x.go").write_text("package x")
    (module / "x.go").chmod(0o444)
    module.chmod(0o555)
    assert prune_go_caches(tmp_path) == len("package x")
    assert not (tmp_path / "go").exists()
