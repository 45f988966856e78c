"""The store: nothing half-written is ever seen, nothing is built twice, damage is found."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.errors import BuildError
from modelyard.local.build.failing import require
from modelyard.local.build.store import SEAL, Store, digest
from modelyard.programs import run


def write(text: str):
    return lambda target: target.write_text(text) and None


def fail_if_called(target: Path) -> None:
    raise AssertionError("built again")


def test_an_entry_is_built_once_and_then_found(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = store.get("binary", "k", write("x"))
    assert first.read_text() == "x"
    assert store.get("binary", "k", fail_if_called) == first


def test_a_failed_build_leaves_nothing_behind(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def half_done(target: Path) -> None:
        target.write_text("half")
        raise RuntimeError("compiler died")

    with pytest.raises(RuntimeError, match="compiler died"):
        store.get("binary", "k", half_done)
    assert not store.has("binary", "k")
    assert store.entries() == []
    assert list(tmp_path.glob("*/.*.scratch-*")) == []


@pytest.mark.parametrize(
    "damage", ["truncated", "same size, other bytes", "gone", "no seal", "seal cut short", "seal of another form"]
)
def test_a_damaged_entry_is_built_again(tmp_path: Path, damage: str) -> None:
    store = Store(tmp_path)
    path = store.get("binary", "k", write("good content"))
    seal = path.parent / SEAL
    match damage:
        case "truncated":
            path.write_text("good")
        case "same size, other bytes":
            path.write_text("evil content")
        case "gone":
            path.unlink()
        case "no seal":
            seal.unlink()
        case "seal cut short":
            seal.write_text(seal.read_text()[:10])
        case "seal of another form":
            seal.write_text("[]")
    assert not store.has("binary", "k")
    assert store.get("binary", "k", write("good content")).read_text() == "good content"


def test_an_entry_whose_times_moved_but_whose_bytes_did_not_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = store.get("binary", "k", write("x"))
    os.utime(path, (1, 1))
    assert store.get("binary", "k", fail_if_called) == path


def test_a_folder_entry_misses_one_file_and_is_built_again(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def folder(target: Path) -> None:
        target.mkdir()
        (target / "a").write_text("a")
        (target / "b").write_text("b")

    (store.get("debian", "k", folder) / "b").unlink()
    assert (store.get("debian", "k", folder) / "b").read_text() == "b"


def test_concurrent_runs_build_an_entry_once(tmp_path: Path) -> None:
    built = []

    def slow(target: Path) -> None:
        built.append(1)
        time.sleep(0.2)  # long enough that all threads ask while the first builds
        target.write_text("x")

    threads = [threading.Thread(target=lambda: Store(tmp_path).get("binary", "k", slow)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1


def test_sweep_removes_what_a_killed_build_left_but_not_a_running_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "binary").mkdir()
    dead = tmp_path / "binary" / ".dead.scratch-1"
    dead.mkdir()
    (dead / "content").write_text("half")
    swept: list[int] = []

    def building(target: Path) -> None:
        swept.append(store.sweep_scratch())
        target.write_text("x")

    store.get("binary", "alive", building)
    assert swept == [1]
    assert not dead.exists()
    assert store.has("binary", "alive")


def test_lock_that_is_removed_between_open_and_lock_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else two would each hold a lock: one on the file that is gone, one on the new file of its name."""
    store, flock, swept = Store(tmp_path), fcntl.flock, []

    def removed_before(stream: IO[str], flags: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)  # once
        (tmp_path / "binary" / ".k.lock").unlink()
        flock(stream, flags)

    def building(target: Path) -> None:
        swept.append(store.sweep_scratch())
        target.write_text("x")

    monkeypatch.setattr(fcntl, "flock", removed_before)
    store.get("binary", "k", building)
    assert swept == [0]


def test_builders_and_removers_of_an_entry_never_meet(tmp_path: Path) -> None:
    busy = threading.Lock()

    def alone(target: Path) -> None:
        assert busy.acquire(blocking=False), "two build the entry at once"
        target.write_text("x")
        busy.release()

    def work(number: int) -> None:
        store = Store(tmp_path)
        for _ in range(50):
            store.get("binary", "k", alone)
            for entry in store.entries():
                store.remove(entry)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [None] * 4
    assert list(tmp_path.glob("*/*")) == []


def a_tree(target: Path) -> None:
    target.mkdir()
    (target / "tool").write_text("good")
    (target / "name").symlink_to("tool")


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: (content / "name").unlink() or (content / "name").symlink_to("/etc/passwd"),
        lambda content: (content / "tool").unlink() or (content / "tool").symlink_to("/etc/passwd"),
        lambda content: (content / "added").symlink_to("/etc/passwd"),
        lambda content: (content / "tool").unlink() or os.mkfifo(content / "tool"),
        lambda content: os.mkfifo(content / "line\nbreak"),
        lambda content: content.rename(content.parent / "x") and content.symlink_to("x"),
        lambda content: (content.parent / SEAL).unlink() or os.mkfifo(content.parent / SEAL),
        lambda content: content.parent.rename(content.parent.parent / "x") and content.parent.symlink_to("x"),
    ],
)
def test_links_pipes_and_what_was_added_are_damage(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    content = Store(tmp_path).get("binary", "k", a_tree)
    damage(content)
    again = Store(tmp_path).get("binary", "k", a_tree)
    assert (again / "tool").read_text() == "good"
    assert (again / "name").readlink() == Path("tool")
    assert sorted(path.name for path in again.iterdir()) == ["name", "tool"]
    assert not again.is_symlink()


def test_seal_of_before_links_were_sealed_holds(tmp_path: Path) -> None:
    content = Store(tmp_path).get("binary", "k", a_tree)
    seal = content.parent / SEAL
    document = json.loads(seal.read_text())
    del document["specials"], document["files"]["name"]
    seal.write_text(json.dumps(document))
    assert Store(tmp_path).has("binary", "k")
    (content / "tool").write_text("evil")
    assert not Store(tmp_path).has("binary", "k")


def test_build_that_is_sealed_but_not_yet_in_place_is_no_entry(tmp_path: Path) -> None:
    scratch = tmp_path / "binary" / ".k.scratch-1"
    scratch.mkdir(parents=True)
    (scratch / SEAL).write_text('{"files": {}}')
    assert Store(tmp_path).entries() == []


def test_removed_entries_are_gone_and_come_back(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.get("binary", "k", write("x"))
    [entry] = store.entries()
    assert (entry.kind, entry.key, entry.size) == ("binary", "k", 1)
    store.remove(entry)
    assert store.entries() == []
    assert store.get("binary", "k", write("y")).read_text() == "y"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": []}', '{"files": {".": 1}}', "\udcff"])
def test_entry_with_a_damaged_seal_is_listed_with_its_real_size_and_can_be_removed(tmp_path: Path, text: str) -> None:
    store = Store(tmp_path)
    path = store.get("binary", "k", write("x" * 5000))
    (path.parent / SEAL).write_bytes(text.encode(errors="surrogateescape"))
    [entry] = store.entries()
    assert entry.size == 5000 + len(text)
    store.remove(entry)
    assert not path.exists()


def test_full_disk_is_named_with_what_frees_it(tmp_path: Path) -> None:
    """A small file system that is mounted where no one else sees it; written by Python, and by a program."""
    program = f"""
from pathlib import Path
from modelyard.errors import BuildError
from modelyard.local.build.failing import require
from modelyard.programs import run
from modelyard.local.build.store import Store
from modelyard.local.host import linux
linux.unshare(linux.CLONE_NEWNS)
linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
linux.mount("tmpfs", {str(tmp_path)!r}, "tmpfs", data="size=64k")
copy = lambda target: require(run(["cp", "/usr/bin/python3", target], seconds=60), {f"image in {tmp_path}"!r})
for build in (lambda target: target.write_bytes(b"x" * 100_000), copy):
    try:
        Store(Path({str(tmp_path)!r})).get("image", "k", build)
    except BuildError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, check=False)
    assert done.stdout.count(f"image in {tmp_path}: ") == 2, done.stderr
    assert done.stdout.count("No space left on device") == 2
    assert done.stdout.count("next: modelyard local prune") == 2


def test_program_that_the_machine_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="no-such-program: No such file or directory") as error:
        Store(tmp_path).get(
            "rootfs", "k", lambda target: require(run(["no-such-program", target], seconds=60), "x") and None
        )
    assert error.value.remedy == "modelyard doctor"


def test_the_seal_names_each_file_with_its_hash(tmp_path: Path) -> None:
    path = Store(tmp_path).get("binary", "k", write("x"))
    sealed = json.loads((path.parent / SEAL).read_text())["files"]
    assert sealed["."]["sha256"] == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"


@given(st.lists(st.text(max_size=5), max_size=4), st.lists(st.text(max_size=5), max_size=4))
def test_digests_of_different_lists_differ(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)
