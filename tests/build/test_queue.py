"""The build queue: order, one build for many askers, failures that reach who asked, and nobody else."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

import pytest

from modelyard.errors import BuildError
from modelyard.events import Event, StepDone, StepFailed, StepProgress, StepStarted
from modelyard.local.build.binaries import GoBinary
from modelyard.local.build.images import GoImage
from modelyard.local.build.oci import manifest_digest
from modelyard.local.build.queue import BuildQueue
from modelyard.local.build.toolchain import GoToolchain

FAKE_GO = """#!/bin/sh
# stands in for the compiler alone: the queue, the store and the images around it are the real ones
[ "$1" = list ] && exec dirname "$0"
while [ "$1" != -o ]; do shift; done
case "$3" in *brief*) sleep 0.5 ;; esac
case "$3" in *slow*) touch "$(dirname "$0")/slow-began"; exec sleep 30 ;; esac
case "$3" in *told*) echo "go: downloading example.com/lib v1.0.0" >&2; echo "example.com/lib/part" >&2 ;; esac
case "$3" in *broken*) echo "broken.go:1:1: syntax error" >&2; exit 1 ;; esac
echo "$3" >> "$(dirname "$0")/order"
echo "$3" > "$2"
"""


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def queue(tmp_path: Path, events: list[Event]) -> BuildQueue:
    go = tmp_path / "go"
    go.write_text(FAKE_GO)
    go.chmod(0o755)
    return BuildQueue(GoToolchain(go, "go1.26.0", tmp_path / "cache"), tmp_path / "cache", events.append)


def binary(name: str) -> GoBinary:
    return GoBinary(name, "pause", f"example.com/{name}")


def image(name: str) -> GoImage:
    return GoImage(f"example.com/{name}:v1", binary(name), f"/{name}")


def test_binaries_are_built_in_the_order_in_which_they_were_asked_for(queue: BuildQueue, tmp_path: Path) -> None:
    for future in [queue.binary(binary(name)) for name in "cab"]:
        future.result(10)
    assert (tmp_path / "order").read_text().split() == ["example.com/c", "example.com/a", "example.com/b"]


def test_many_askers_share_one_build(queue: BuildQueue, tmp_path: Path) -> None:
    gate = threading.Barrier(4)
    paths = []

    def ask() -> None:
        gate.wait(10)
        paths.append(queue.image(image("a")).result(10))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(paths)) == 1
    assert (tmp_path / "order").read_text().split() == ["example.com/a"]
    assert manifest_digest(paths[0]).startswith("sha256:")


def test_an_image_holds_all_its_binaries_and_upstreams_own_files(queue: BuildQueue, tmp_path: Path) -> None:
    (tmp_path / "script").mkdir()
    (tmp_path / "script/install.sh").write_text("#!/bin/sh\n")
    plain = image("a")
    whole = GoImage(
        plain.name, plain.binary, "/a", more={"/b": binary("b")}, files={"/install.sh": "script/install.sh"}
    )
    assert whole.key("go1.26.0") != plain.key("go1.26.0")
    with tarfile.open(queue.image(whole).result(10)) as archive:
        layers = [entry for entry in archive if entry.size and _is_layer(archive, entry)]
        with tarfile.open(fileobj=archive.extractfile(layers[0])) as layer:
            assert {"a", "b", "install.sh"} <= set(layer.getnames())
    assert sorted((tmp_path / "order").read_text().split()) == ["example.com/a", "example.com/b"]


def _is_layer(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bool:
    stream = archive.extractfile(entry)
    assert stream is not None
    return entry.name.startswith("blobs/") and not stream.read(1).startswith(b"{")


def test_an_image_that_cannot_be_built_fails_alone(queue: BuildQueue, events: list[Event]) -> None:
    broken, whole = queue.image(image("broken")), queue.image(image("whole"))
    with pytest.raises(BuildError, match=r"binary broken .*syntax error"):
        broken.result(10)
    assert whole.result(10).is_file()
    assert [event.key for event in events if isinstance(event, StepFailed)] == ["build:broken"]
    assert [event.key for event in events if isinstance(event, StepDone)] == ["build:whole"]


def test_what_is_built_already_is_no_step(queue: BuildQueue, tmp_path: Path) -> None:
    queue.binary(binary("a")).result(10)
    again: list[Event] = []
    BuildQueue(queue.toolchain, tmp_path / "cache", again.append).binary(binary("a")).result(10)
    assert not [event for event in again if isinstance(event, StepStarted)]


def test_two_queues_that_need_the_same_binary_compile_it_once_and_say_so_once(
    queue: BuildQueue, events: list[Event], tmp_path: Path
) -> None:
    """The install's queue and the renderer's tools do not know of each other; the store makes one wait."""
    other: list[Event] = []
    second = BuildQueue(queue.toolchain, tmp_path / "cache", other.append)
    for future in [queue.binary(binary("brief")), second.binary(binary("brief"))]:
        future.result(10)
    assert (tmp_path / "order").read_text().split() == ["example.com/brief"]
    assert len([event for event in [*events, *other] if isinstance(event, StepStarted)]) == 1


def test_a_compile_says_how_far_it_is_and_which_of_how_many(queue: BuildQueue, events: list[Event]) -> None:
    with queue.gathering():
        futures = [queue.binary(binary(name)) for name in ("a", "told")]
        assert [each.name for each in queue.missing] == ["a", "told"]
        assert not events, "nothing begins before all is known"
    for future in futures:
        future.result(10)
    titles = [event.title for event in events if isinstance(event, StepStarted)]
    assert titles == ["compile a (1 of 2)", "compile told (2 of 2)"]
    assert [event.detail for event in events if isinstance(event, StepProgress)] == [
        "downloading Go modules: 1, example.com/lib",
        "compiled 1 Go packages, example.com/lib/part",
    ]


def test_what_is_built_already_is_not_missing(queue: BuildQueue, tmp_path: Path) -> None:
    queue.binary(binary("a")).result(10)
    again = BuildQueue(queue.toolchain, tmp_path / "cache", lambda _: None)
    for name in "ab":
        again.binary(binary(name)).result(10)
    assert [each.name for each in again.asked] == ["a", "b"]
    assert [each.name for each in again.missing] == ["b"]


def wait_for_file(path: Path) -> None:
    deadline = time.monotonic() + 10
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} did not appear"
        time.sleep(0.01)


def test_a_cancelled_queue_ends_its_own_compile_and_no_other_queues(queue: BuildQueue, tmp_path: Path) -> None:
    slow = queue.binary(binary("slow"))
    wait_for_file(tmp_path / "slow-began")
    BuildQueue(queue.toolchain, tmp_path / "other", lambda _: None).close(cancel=True)
    with pytest.raises(TimeoutError):
        slow.result(0.2)
    queue.close(cancel=True)
    with pytest.raises(BuildError):
        slow.result(10)


def test_closing_ends_what_waits_for_builds_that_will_never_be(tmp_path: Path) -> None:
    """In a process of its own: what was wrong once kept the interpreter from ending."""
    go = tmp_path / "go"
    go.write_text(FAKE_GO)
    go.chmod(0o755)
    program = f"""
import pathlib, time
from modelyard.events import discard
from modelyard.local.build.binaries import GoBinary
from modelyard.local.build.queue import BuildQueue
from modelyard.local.build.toolchain import GoToolchain
folder = pathlib.Path({str(tmp_path)!r})
queue = BuildQueue(GoToolchain(folder / "go", "go1.26.0", folder / "cache"), folder / "cache", discard)
asked = [queue.binary(GoBinary(name, "pause", f"example.com/{{name}}")) for name in ("slow", "never")]
queue.python_image("ray", after=asked)
while not (folder / "slow-began").exists(): time.sleep(0.01)
queue.close(cancel=True)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "order").exists(), "nothing was begun after the close"
