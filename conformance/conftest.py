"""Fixtures of all areas: the cluster, and a namespace, queues and volumes of each test's own."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from conformance.proof.recorder import Recorder
from conformance.support.alone import room
from conformance.support.diagnosis import diagnose
from conformance.support.needs import absent, needs_of
from conformance.support.queues import Queues
from conformance.support.removal import Removal
from conformance.support.volumes import Volumes
from conformance.support.waiting import wait_at_most
from conformance.support.workspace import Workspace, open_workspace
from modelyard.apply.members import read_all
from modelyard.cluster import Session, connect

HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that name the cluster."""
    parser.addoption("--kubeconfig", type=Path, help="Kubeconfig file of the cluster.")
    parser.addoption("--context", help="Context of the kubeconfig.")
    parser.addoption("--record", type=Path, help="Add to this proof record what passes.")
    parser.addoption("--patience", type=float, help="Wait for nothing longer than so many seconds.")


def pytest_configure(config: pytest.Config) -> None:
    """Shorten all waits where that was asked for; note what passes, in the one process that hears of all tests."""
    file = config.getoption("--record")
    if file is not None and not hasattr(config, "workerinput"):
        cluster = connect(config.getoption("--kubeconfig"), config.getoption("--context"))
        config.pluginmanager.register(Recorder(file, cluster), "proof-recorder")
    if (seconds := config.getoption("--patience")) is not None:
        wait_at_most(seconds)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs a component that is not installed, and say so; refuse marks that would mean nothing."""
    for item in items:
        if any(mark.name == "alone" for mark in item.own_markers):
            raise pytest.UsageError(f"{item.nodeid}: `alone` is for a whole file; set it as its pytestmark")
    needing = [(item, needs_of(item)) for item in items if needs_of(item)]
    if not needing:
        return
    installed = read_all(connect(config.getoption("--kubeconfig"), config.getoption("--context")))
    for item, needs in needing:
        if missing := absent(needs, installed):
            item.add_marker(pytest.mark.skip(reason=f"not installed: {', '.join(missing)}"))


@pytest.fixture(scope="module", autouse=True)
def place(request: pytest.FixtureRequest) -> Iterator[None]:
    """Beside the tests of other processes, or alone where the file is marked so.

    From a file's first fixture to its last: what a file's tests share works between the tests too, and must never meet
    tests that take controllers away.
    """
    marked = request.node.get_closest_marker("alone") is not None
    with room(HERE / "pytest.ini", HERE / "conftest.py", alone=marked):
        yield


@pytest.fixture(scope="session")
def session(request: pytest.FixtureRequest) -> Session:
    """The cluster."""
    return connect(request.config.getoption("--kubeconfig"), request.config.getoption("--context"))


@pytest.fixture(scope="session")
def removal(session: Session) -> Iterator[Removal]:
    """Takes what the tests have made, and sees at the end of the run that it is gone."""
    removal = Removal(session)
    yield removal
    removal.finish()


@pytest.fixture
def workspace(request: pytest.FixtureRequest, session: Session, removal: Removal) -> Iterator[Workspace]:
    """A namespace of the test's own."""
    workspace = open_workspace(session, area=request.path.parent.name)
    yield workspace
    removal.remove(workspace.ref)


@pytest.fixture
def queues(workspace: Workspace, removal: Removal) -> Iterator[Queues]:
    """Queues of the test's own."""
    queues = Queues(workspace)
    yield queues
    queues.remove(removal)


@pytest.fixture
def volumes(workspace: Workspace, removal: Removal) -> Iterator[Volumes]:
    """Volumes of the test's own."""
    volumes = Volumes(workspace)
    yield volumes
    volumes.remove(removal)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the state of its namespace to a failed test's report, before the namespace goes."""
    report = yield
    if report.failed and report.when != "teardown":
        for workspace in _workspaces(item):
            report.sections.append((f"namespace {workspace.name}", diagnose(workspace)))
    return report


def _workspaces(item: pytest.Item) -> Iterator[Workspace]:
    for value in getattr(item, "funcargs", {}).values():
        if isinstance(value, Workspace):
            yield value


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Say "nothing ran" where nothing passed and nothing failed: such a run has proved nothing."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == pytest.ExitCode.OK and reporter is not None and not reporter.stats.get("passed"):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
