"""Fixtures of the installer's tests: a session, names of a test's own, a small image."""

from __future__ import annotations

import fcntl
import os
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from apply_helpers import IMAGE, Events

from modelyard.apply import members
from modelyard.apply.chosen import forget_choice
from modelyard.cluster import Session, connect
from modelyard.local import ClusterInfo, load_image
from modelyard.local.build.oci import ImageConfig, write_binary_layer, write_image
from modelyard.local.host.files import locked
from modelyard.objects import GroupKind, ObjectRef, text
from modelyard.plan import inventory
from modelyard.plan.inventory import Inventory


@pytest.fixture
def session(cluster: ClusterInfo) -> Session:
    """A session; the inventories' namespace stays, which one worker's last uninstall would take from the other."""
    opened = connect(cluster.kubeconfig)
    members.ensure_namespace(opened)
    members.write(opened, _keeper(opened.cluster_id))
    return opened


def _keeper(cluster: str) -> Inventory:
    """Return an inventory of nothing, of a component that no test has."""
    return Inventory("kept-by-tests", "", "test", cluster, frozenset(), frozenset(), complete="nothing")


@pytest.fixture(autouse=True)
def beside(request: pytest.FixtureRequest) -> Iterator[None]:
    """Beside other workers' tests, but for one marked `alone`: what it writes would make theirs refuse to go on."""
    how = fcntl.LOCK_EX if request.node.get_closest_marker("alone") else fcntl.LOCK_SH
    with (Path(os.environ["MODELYARD_STATE_DIR"]) / "beside.lock").open("a") as lock:
        fcntl.flock(lock, how)
        yield


@pytest.fixture
def choice(session: Session) -> Iterator[None]:
    """The cluster's choice is this test's alone and empty at first: other files' tests run beside it."""
    with locked(Path(os.environ["MODELYARD_STATE_DIR"]) / "choice.lock", patience=600):
        forget_choice(session)
        yield
        forget_choice(session)


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
def own(request: pytest.FixtureRequest, session: Session) -> Iterator[str]:
    """A name for this test's components and namespace; what is left of them is deleted afterwards, unwaited for."""
    name = f"t{zlib.crc32(request.node.nodeid.encode()):x}"
    yield name
    listing = session.list(GroupKind("", "ConfigMap"), namespace=inventory.NAMESPACE, label_selector=inventory.ID_LABEL)
    for item in listing.items if listing else ():
        component = text(item, "metadata", "name").removeprefix(inventory.PREFIX)
        if component.startswith(name):
            for ref in members.live(session, component, inventory.read_parent(item).group_kinds, {}):
                session.delete(ref)
            session.delete(members.parent_ref(component))
    session.delete(ObjectRef("", "Namespace", "", name))


@pytest.fixture(scope="session")
def shell_image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image with this machine's bash and sleep, and the libraries that they need."""
    folder = tmp_path_factory.mktemp("shell")
    files: dict[str, Path] = {}
    for program in (Path("/usr/bin/bash"), Path("/usr/bin/sleep")):
        listed = subprocess.run(["ldd", program], text=True, capture_output=True, check=True).stdout
        files[str(program)] = program.resolve()
        files |= {word: Path(word).resolve() for word in listed.split() if word.startswith("/")}
    write_binary_layer(folder / "layer.tar", files)
    archive = folder / "shell.tar"
    config = ImageConfig(("/usr/bin/sleep", "infinity"), "0:0", {"PATH": "/usr/bin"})
    write_image(archive, IMAGE, [folder / "layer.tar"], config)
    return archive


@pytest.fixture
def shell(cluster: ClusterInfo, shell_image: Path) -> str:
    """The image's name, loaded into the shared cluster."""
    load_image(cluster.name, shell_image)
    return IMAGE
