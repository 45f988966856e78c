"""Fixtures shared by all tests: a private state folder, and one embedded cluster a run."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from modelyard.errors import ModelyardError
from modelyard.local import ClusterInfo, ClusterSpec, down, up
from modelyard.local.host.files import locked, read_json, write_json
from modelyard.local.host.procfs import ProcessId, identify, is_alive
from modelyard.local.state.layout import names
from modelyard.paths import cache_dir

# How long an example takes says nothing here: the machine is shared.
settings.register_profile("modelyard", deadline=None)
settings.load_profile("modelyard")

_SHARED = "shared"
_PREFIX = "modelyard-tests-"
_OWNER = "owner.json"
_PATIENCE = 300.0  # seconds for a cluster to start; beside other tests the disk may be busy

Bring = Callable[..., ClusterInfo]  # (spec, timeout in seconds)


def pytest_configure(config: pytest.Config) -> None:
    """Give the run (and, by inheritance, its xdist workers) a state folder of its own."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # of a shell's background job; its children would ignore it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        return
    _remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    me = identify(os.getpid())
    assert me is not None
    write_json(folder / _OWNER, {"pid": me.pid, "start": me.start, "boot": me.boot})
    os.environ["MODELYARD_STATE_DIR"] = str(folder)
    os.environ.setdefault("MODELYARD_TRY", "cgroup-v2")  # a machine with it is where it can be seen


def pytest_unconfigure(config: pytest.Config) -> None:
    """End every cluster of the run, once all workers are done."""
    folder = Path(os.environ.get("MODELYARD_STATE_DIR", "/nonexistent"))
    if hasattr(config, "workerinput") or not folder.name.startswith(_PREFIX):
        return
    _remove(folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses a cluster, so that no test can forget to."""
    for item in items:
        if {"cluster", "bring"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="session")
def bring() -> Bring:
    """Bring a cluster up from the cached binaries; what a test leaves running ends with the run."""
    from modelyard.events import discard
    from modelyard.local.build.cluster_set import cluster_binaries
    from modelyard.local.build.debian import ensure_host_packages

    ensure_host_packages(discard)
    binaries, pause_image = cluster_binaries(cache_dir(), discard)
    return lambda spec, timeout=_PATIENCE: up(spec, binaries, pause_image, timeout=timeout)


@pytest.fixture(scope="session")
def cluster(bring: Bring) -> ClusterInfo:
    """One embedded cluster for all tests of the run, whichever process runs them."""
    state = Path(os.environ["MODELYARD_STATE_DIR"])
    with locked(state / "shared.lock", patience=_PATIENCE):
        return bring(ClusterSpec(name=_SHARED))


def _remove_abandoned() -> None:
    """Remove what runs that were killed left behind."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        owner = read_json(folder / _OWNER)
        if owner is None:
            continue
        process = ProcessId(int(str(owner["pid"])), int(str(owner["start"])), str(owner["boot"]))
        if not is_alive(process):
            _remove(folder)


def _remove(folder: Path) -> None:
    before = os.environ.get("MODELYARD_STATE_DIR")
    os.environ["MODELYARD_STATE_DIR"] = str(folder)
    try:
        for name in names():
            down(name, delete=True)
    except ModelyardError as error:
        print(f"{folder}: {error}")
        return
    finally:
        if before is not None:
            os.environ["MODELYARD_STATE_DIR"] = before
    shutil.rmtree(folder, ignore_errors=True)
